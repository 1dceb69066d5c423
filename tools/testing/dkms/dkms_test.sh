#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# dkms_test.sh [KERNEL...]
#
# Do "make install" and DKMS put this driver in the place of the distribution's,
# and give that one its place back? For each KERNEL of tools/testing/vm/kernels.conf,
# with the distribution's own dkms, in a throw-away copy of its root. KTAP.

set -u

dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$dir/../../.." && pwd)
vm=$top/tools/testing/vm

count=0 failed=0 kernel='' release=''

ok() # DESCRIPTION
{
	count=$((count + 1))
	echo "ok $count $kernel: $1"
}

not_ok() # DESCRIPTION [DIAGNOSTIC]
{
	count=$((count + 1))
	failed=$((failed + 1))
	[ -z "${2-}" ] || sed 's/^/# /' <<<"$2"
	echo "not ok $count $kernel: $1"
}

is() # DESCRIPTION WANTED-PATTERN GOT
{
	# shellcheck disable=SC2053 # a pattern
	if [[ $3 == $2 ]]; then
		ok "$1"
	else
		not_ok "$1" "wanted $2"$'\n'"got    $3"
	fi
}

succeeds() # DESCRIPTION COMMAND...
{
	local what=$1 log
	shift
	if log=$("$@" 2>&1); then
		ok "$what"
	else
		not_ok "$what" "$log"
		return 1
	fi
}

# The module that modprobe would load, and the one that "rdma link add ... type
# rxe" would make it load.
by_name() { modprobe -S "$release" --show-depends rdma_rxe 2>&1 | tail -n 1; }
by_link_type() { modprobe -S "$release" --show-depends rdma-link-rxe 2>&1 | tail -n 1; }

distribution_is_back()
{
	local now
	now=$(modinfo -k "$release" -n rdma_rxe)
	is "the distribution's module is back" "$before $before_sum" \
		"$now $(sha256sum <"$now")"
	is "modprobe rdma_rxe loads that" "insmod $before*" "$(by_name)"
	is "rdma link add loads that" "insmod $before*" "$(by_link_type)"
	is "nothing is left in /usr/src" "" "$(compgen -G "/usr/src/$NAME-*")"
}

# fails DESCRIPTION PATTERN COMMAND...: and says that
fails()
{
	local what=$1 pattern=$2 log
	shift 2
	if log=$("$@" 2>&1); then
		not_ok "$what" "no failure"
	else
		is "$what" "$pattern" "$log"
	fi
}

# "make install" and "make uninstall", in the sources $1
without_dkms()
{
	succeeds "make install" make -s -j"$(nproc)" -C "$1" KVER="$release" install
	is "modprobe rdma_rxe loads it" "insmod */updates/rdma_rxe.ko*" "$(by_name)"
	is "rdma link add loads it" "insmod */updates/rdma_rxe.ko*" "$(by_link_type)"
	is "its version" "$VERSION" "$(modinfo -k "$release" -F version rdma_rxe)"
	succeeds "make uninstall" make -s -C "$1" KVER="$release" uninstall
	distribution_is_back
}

# Runs in the chroot: an installation, then a DKMS life, from add to remove.
inside()
{
	local before before_sum src=/tmp/src
	. "$top/META"
	dkms --version | sed 's/^/# /'

	# the package would build for all kernels
	find /lib/modules -mindepth 1 -maxdepth 1 ! -name "$release" -exec rm -rf {} +

	before=$(modinfo -k "$release" -n rdma_rxe)
	is "the distribution has its own module" \
		'*/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko*' "$before"
	before_sum=$(sha256sum <"$before")

	"$top/scripts/dkms-source" "$src"
	cp -r "$top/scripts" "$src/"
	without_dkms "$src"

	if ! succeeds "add, build, install" "$top/scripts/install-dkms" "$release"; then
		sed 's/^/# /' "/var/lib/dkms/$NAME/$VERSION/build/make.log"
	fi
	is "status" "$NAME/$VERSION, $release, x86_64: installed*" \
		"$(dkms status -k "$release" "$NAME/$VERSION")"
	is "modprobe rdma_rxe loads it" \
		"insmod */updates/dkms/rdma_rxe.ko*" "$(by_name)"
	is "rdma link add loads it" \
		"insmod */updates/dkms/rdma_rxe.ko*" "$(by_link_type)"
	is "its version" "$VERSION" "$(modinfo -k "$release" -F version rdma_rxe)"
	is "it is of this kernel" "$release *" \
		"$(modinfo -k "$release" -F vermagic rdma_rxe)"

	fails "make install does not add another one" "*make dkms-uninstall*" \
		make -s -j"$(nproc)" -C "$src" KVER="$release" install

	succeeds "remove" "$top/scripts/install-dkms" --remove
	is "status is empty" "" "$(dkms status "$NAME")"
	distribution_is_back

	succeeds "the Debian package" "$top/scripts/build-deb" /tmp
	succeeds "dpkg -i" dpkg -i "/tmp/rdma-rxe-dkms_${VERSION}_all.deb"
	is "modprobe rdma_rxe loads it" \
		"insmod */updates/dkms/rdma_rxe.ko*" "$(by_name)"
	succeeds "dpkg -P" dpkg -P rdma-rxe-dkms
	distribution_is_back
}

if [ "${1-}" = --inside ]; then
	kernel=$2 count=$3
	release=$(cd /lib/modules && printf '%s\n' "$kernel".* | sort -V | tail -n 1)
	inside
	exit
fi

kernels=("$@")
[ ${#kernels[@]} -gt 0 ] ||
	mapfile -t kernels < <(awk '!/^#/ && NF { print $1 }' "$vm/kernels.conf")

tests=31	# of one kernel

echo "TAP version 13"
echo "1..$((tests * ${#kernels[@]}))"
for kernel in "${kernels[@]}"; do
	before=$count
	while IFS= read -r line; do
		case $line in
		'ok '*) count=$((count + 1)) ;;
		'not ok '*) count=$((count + 1)) failed=$((failed + 1)) ;;
		'#'*) ;;
		*) line="# $line" ;;
		esac
		printf '%s\n' "$line"
	done < <("$vm/chroot.sh" --kernel "$kernel" -- \
			"$dir/${0##*/}" --inside "$kernel" "$count" </dev/null 2>&1)
	if [ "$count" -ne $((before + tests)) ]; then
		echo "Bail out! $kernel: the chroot ended early"
		exit 1
	fi
done
exit $((failed > 0))
