# Sourced: find_python prints the first interpreter that is new enough, or fails.
find_python() {
	local name
	for name in python3.13 python3.12 python3.11 python3; do
		# asked, not only looked for: a version manager's shim may stand for nothing
		if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
			echo "$name"
			return
		fi
	done
	return 1
}
