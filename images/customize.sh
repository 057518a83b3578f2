#!/bin/sh
# customize.sh ROOT MYSQL_UID: what a Debian root with Slurm needs to serve both as the daemons' root and as the
# first state of the jail. Runs on the machine that builds the image.
set -eu
root=$1
mysql_uid=$2
here=$(cd "$(dirname "$0")" && pwd)

sh "$here/../native/jail/build.sh" "$root"

# An empty database, so that a cluster need not make one: about 2 s of each first start.
chroot "$root" useradd --system --no-create-home --uid "$mysql_uid" --shell /usr/sbin/nologin mysql
chroot "$root" mariadb-install-db --user=mysql --force --datadir=/var/lib/mysql-empty --skip-test-db \
	--auth-root-authentication-method=socket --innodb-log-file-size=8M --innodb-undo-tablespaces=0 >/dev/null

# What mariadbd runs at each start: slurmdbd comes in over the socket, by its uid, without a password.
cat >"$root/usr/lib/npa/accounting.sql" <<'SQL'
create database if not exists slurm_acct_db;
create user if not exists slurm@localhost identified via unix_socket;
grant all on slurm_acct_db.* to slurm@localhost;
SQL

# The daemons' root knows its own accounts and, behind them, the jail's; libnss-extrausers ignores system uids there.
sed -i -E 's/^(passwd|group|shadow|gshadow):.*/\1: files extrausers/' "$root/etc/nsswitch.conf"
rm -rf "$root/var/lib/extrausers"
ln -s /mnt/jail/etc "$root/var/lib/extrausers"

# Mount points, and names that lead to what a cluster writes.
mkdir -p "$root/mnt/jail" "$root/etc/npa" "$root/etc/slurm" "$root/var/log/slurm" "$root/var/spool/slurmd" \
	"$root/var/lib/slurm/ctld" "$root/var/lib/mysql"
rm -f "$root/etc/slurm/plugstack.conf" "$root/etc/hosts" "$root/etc/hostname" "$root/etc/resolv.conf"
rm -rf "$root/etc/slurm/plugstack.conf.d"
ln -s npa/hosts "$root/etc/hosts"
ln -s npa/resolv.conf "$root/etc/resolv.conf"

# sshd: host keys are a cluster's own; keys alone open a session, and the session opens in the jail.
rm -f "$root"/etc/ssh/ssh_host_*
cat >"$root/etc/pam.d/sshd" <<'PAM'
auth     required pam_deny.so
account  required pam_unix.so
session  required pam_unix.so
session  required pam_env.so
session  required /usr/lib/npa/pam_jail.so /mnt/jail
PAM
