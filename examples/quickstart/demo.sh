#!/usr/bin/env bash
# A tour of a cluster on this machine. Every command is shown before it runs; any that fails ends the tour.
set -Eeuo pipefail
cd "$(dirname "$0")/../.."

cluster=quickstart
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '\n%s\n' "$*"; }

show() { # print a command as it would be typed
	local word line='$'
	for word in "$@"; do
		[[ $word =~ ^[A-Za-z0-9_./=:,%@-]+$ ]] || word="'$word'"
		line+=" $word"
	done
	printf '%s\n' "$line"
}
run() { show "$@" && "$@"; }
on_login() { run npa soperator exec --cluster "$cluster" login-0 -- "$@"; }
quietly_on_login() { npa soperator exec --cluster "$cluster" login-0 -- "$@"; }
trap 'echo "error: the demo stopped at the command above" >&2' ERR

say "1. one file becomes a cluster"
run npa soperator deploy -f examples/quickstart/cluster.yaml --target local --yes

say "2. one command on all four nodes"
on_login srun -N4 hostname

say "3. GPUs are asked for as on the real machines, which this one need not have"
on_login srun --gres=gpu:b200:8 sh -c 'echo "$(hostname) gives this job GPUs $CUDA_VISIBLE_DEVICES"'

say "4. an array of eight jobs; their output is in the root that all nodes share"
quietly_on_login rm -rf /root/demo
quietly_on_login mkdir /root/demo
on_login sbatch --wait --array=1-8 --job-name=array --output=/root/demo/%a.out \
	--wrap 'echo "task $SLURM_ARRAY_TASK_ID ran on $(hostname)"'
on_login sh -c 'cat /root/demo/*.out'

say "5. a job that takes more memory than it asked for"
config=$(quietly_on_login scontrol show config)
if [[ $config == *proctrack/linuxproc* ]]; then
	echo "left out: this machine gives no control groups to write to, so nothing enforces memory limits"
else
	too_big=(npa soperator exec --cluster "$cluster" login-0 -- srun --mem=64M --job-name=too-big tail /dev/zero)
	show "${too_big[@]}"
	if "${too_big[@]}"; then
		echo "error: it was to be killed, and was not" >&2
		exit 1
	fi
	state=none
	for _ in {1..50}; do # the database hears of a job's end a moment later
		state=$(quietly_on_login sacct --name=too-big --allocations --noheader --format=State%-14 | tail -n 1)
		[[ $state == OUT_OF_MEMORY* ]] && break
		sleep 0.2
	done
	if [[ $state != OUT_OF_MEMORY* ]]; then
		echo "error: its state is '$state', not OUT_OF_MEMORY" >&2
		exit 1
	fi
	echo "killed, as it should be; nothing else on the node was touched"
fi

say "6. what the database remembers"
on_login sacct --allocations --starttime=now-10minutes \
	--format=JobID%-8,JobName%-9,NodeList%-20,State%-14,ExitCode,Elapsed

say "7. how the cluster is"
run npa soperator status "$cluster"

cat <<'NEXT'

It is up, and stays up. To go on (`source .venv/bin/activate` first; as root, or with sudo):

  npa soperator ssh                                     a shell on the login node
  npa soperator exec gpu-0 -- scontrol show node gpu-0  any command on any node
  npa soperator logs controller-0 -f                    what slurmctld says
  edit `size:` in examples/quickstart/cluster.yaml, then
  npa soperator plan -f examples/quickstart/cluster.yaml
  npa soperator deploy -f examples/quickstart/cluster.yaml

  make demo-down                                        remove all of it
  docs/tutorial/01-first-cluster.md                     the same, step by step and explained
NEXT
