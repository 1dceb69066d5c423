#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# root.sh [--rebuild] [--update] [--archive-only] SUITE
#
# Prints the directory of a Debian root of SUITE, and builds it first if the
# cache has none for the package list and the versions that the archive offers.
#
#   --rebuild  build it even if there is one
#   --update   look at the archive now, not only if the last look is a day old
#   --archive-only  do no more than that look, if it is due
#
# The directory holds
#   root/     the root: the VM's user space and kernels, and the chroot in which
#             modules are built.  Never written to once it is built.
#   kernels   "NAME RELEASE" for each kernel in it
#   packages  "NAME VERSION" for each package in it
#   boot/     made by boot-files.sh and depmod.sh
#   lock      users hold a shared lock on it; who removes the directory, an
#             exclusive one
#
# A root is built in a directory of its own under tmp/ and renamed when it is
# complete.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rebuild='' update='' archive_only='' suite=''
while [ $# -gt 0 ]; do
	case $1 in
	--rebuild) rebuild=1 ;;
	--update) update=1 ;;
	--archive-only) archive_only=1 ;;
	-h|--help) sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	-*) vm_die "unknown option $1" ;;
	*) suite=$1 ;;
	esac
	shift
done
awk -v s="$suite" '!/^#/ && $2 == s { ok = 1 } END { exit !ok }' \
	"$vm_dir/kernels.conf" || vm_die "no kernel is in suite '$suite'"

roots=$vm_cache/roots
archive=$vm_cache/archive/$suite
mkdir -p "$roots" "$archive" "$vm_cache/tmp"

# Where the system itself gets Debian from, as "URI RELEASE" lines; failing that,
# where mmdebstrap would.  Before an "apt-get update" apt does not know a source's
# origin, but writes the variable's name: then the URI's end has to tell.
system_sources() {
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(ORIGIN)' \
		'Created-By: Packages' 2>/dev/null |
		awk '$3 == "Debian" || ($3 ~ /ORIGIN/ && $1 ~ /\/debian(-security)?\/?$/)'
}
default_sources() {
	# the hook fails on purpose: the list is all that is wanted
	# shellcheck disable=SC2016 # expanded by the hook's shell
	mmdebstrap --quiet --mode=root --variant=custom \
		--setup-hook='sed -n "s/^deb \(\[[^]]*\] \)\?\([^ ]*\) \([^ ]*\) .*/LIST \2 \3/p" "$1"/etc/apt/sources.list >&2; exit 1' \
		"$suite" /dev/null 2>&1 | sed -n 's/^LIST //p' || true
}

write_sources() {
	local list main security keyring options='' backports=''
	list=$(system_sources || true)
	grep -q . <<<"$list" || list=$(default_sources)
	main=$(awk '$2 !~ /-/ { print $1; exit }' <<<"$list")
	security=$(awk '$2 ~ /-security$/ { print $1; exit }' <<<"$list")
	[ -n "$main" ] || return 1

	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e "$keyring" ] || options="[signed-by=$keyring] "
	# no kernel comes from bookworm's
	[ "$suite" = bookworm ] || backports=$suite-backports
	for name in $suite $suite-updates $backports; do
		echo "deb $options$main $name main"
	done
	[ -z "$security" ] || echo "deb $options$security $suite-security main"
}

# packages.conf for this suite
wanted() {
	awk -v s="$suite" '{ sub(/#.*/, "") } NF == 1 { print $1 }
		NF > 1 { for (i = 2; i <= NF; i++) if ($i == s) print $1 }' \
		"$vm_dir/packages.conf"
}

# The lists that the archive's offer is looked up for; other checkouts may have
# others.
lists() { cksum <(wanted) "$vm_dir/kernels.conf" | awk '{ print "list", $1, $2 }'; }

# Reads the archive's indices, which takes the network.
update_archive() {
	# not again at once if this fails
	touch "$archive/updated"
	write_sources >"$archive/sources.list.new" || return 1
	mv "$archive/sources.list.new" "$archive/sources.list"
	vm_apt "$suite" apt-get -qq -o APT::Update::Error-Mode=any update \
		>"$archive/update.log" 2>&1
}

# Writes what the archive offers to $candidates: "kernel NAME RELEASE" and "package
# NAME VERSION" lines.
look_up_candidates() {
	local new=$candidates.new names name s regex release missing
	local packages=()
	names=$(vm_apt "$suite" apt-cache pkgnames linux-)
	: >"$new"
	while read -r name s regex; do
		[ "$s" = "$suite" ] || continue
		release=$(sed -nE "s/^linux-headers-($regex-amd64)\$/\1/p" <<<"$names" |
			sort -V | tail -n 1)
		if [ -z "$release" ]; then
			vm_say "the archive has no kernel $name"
			return 1
		fi
		echo "kernel $name $release" >>"$new"
		packages+=("linux-headers-$release")
		# From 7.x on the image is split, and linux-image only adds
		# the hooks that make an initramfs.
		if grep -qx "linux-binary-$release" <<<"$names"; then
			packages+=("linux-binary-$release" "linux-modules-$release")
		else
			packages+=("linux-image-$release")
		fi
	done < <(grep -v '^#' "$vm_dir/kernels.conf")
	mapfile -t -O "${#packages[@]}" packages < <(wanted)

	vm_apt "$suite" apt-cache policy "${packages[@]}" |
		awk '/^[^ ].*:$/ { sub(/:$/, ""); p = $0 }
		     $1 == "Candidate:" { print "package", p, $2 }' >>"$new"
	missing=$(comm -23 <(printf '%s\n' "${packages[@]}" | sort -u) \
		<(awk '$1 == "package" && $3 != "(none)" { print $2 }' "$new" | sort -u) |
		xargs)
	if [ -n "$missing" ]; then
		vm_say "the archive lacks: $missing"
		return 1
	fi
	lists >>"$new"
	mv "$new" "$candidates"
}

# Not older than a day, and than the indices?
candidates_are_fresh() {
	[ -s "$candidates" ] && [ ! "$archive/updated" -nt "$candidates" ] &&
		archive_is_fresh
}
archive_is_fresh() { [ -n "$(find "$archive/updated" -mtime 0 2>/dev/null)" ]; }

candidates=$archive/candidates-$(lists | cksum | cut -d ' ' -f 1)

# What a root depends on: the versions, and how it is made.
root_key() {
	{ cat "$candidates"; build_recipe; } | sha256sum | cut -c 1-16
}

# use_newest_root WHY: better than none
use_newest_root() {
	local old
	# shellcheck disable=SC2012 # the names are ours
	old=$(ls -td "$roots/$suite"-*/ 2>/dev/null | sed 's,/$,,' | head -n 1)
	[ -n "$old" ] || vm_die "$1"
	vm_say "$1: using the last root, $old"
	echo "$old"
	exit 0
}

# Everything about the making of a root that is not a package's version; its
# text is part of the key.
build_recipe() { declare -f build_root finish_root; }

# build_root DIR: DIR/root, DIR/kernels, DIR/packages
build_root() {
	local dir=$1 packages path excludes=()
	packages=$(awk '$1 == "package" { print $2 }' "$candidates" | paste -sd,)

	# Documentation stays out, but for the Python tests of rdma-core; so do
	# modules for hardware that no VM has, which would make depmod and
	# unpacking slow.
	for path in '/usr/share/man/*' '/usr/share/locale/*' '/usr/share/info/*' \
		'/usr/share/doc/*' '/etc/kernel/*/*initramfs*'; do
		excludes+=(--dpkgopt="path-exclude=$path")
	done
	for path in '/usr/share/doc/*/copyright' '/usr/share/doc/rdma-core/*'; do
		excludes+=(--dpkgopt="path-include=$path")
	done
	for path in sound drivers/{gpu,media,staging,iio,usb,hid,input,mmc,mtd,ata} \
		drivers/net/{wireless,can,usb,arcnet,hamradio,wan} \
		drivers/{video,hwmon,platform,isdn,bluetooth,comedi}; do
		excludes+=(--dpkgopt="path-exclude=*/lib/modules/*/kernel/$path/*")
	done

	# the system's way to the archive, if it has one
	apt-config dump --format '%F "%v";%n' |
		grep -iE '^Acquire::https?::(Proxy|Timeout)' >"$dir/apt.conf" || true

	# A mount namespace, so that mmdebstrap's mounts cannot outlive it; a
	# process namespace, so that it cannot outlive us.
	unshare --mount --pid --fork --kill-child --mount-proc \
		mmdebstrap --quiet --mode=root --variant=essential \
		--architectures=amd64 --format=directory \
		--aptopt='APT::Install-Recommends "false"' \
		--aptopt='Acquire::Languages "none"' \
		--aptopt='Acquire::Retries "2"' \
		--aptopt="$dir/apt.conf" \
		"${excludes[@]}" --include="$packages" \
		"$suite" "$dir/root" "$archive/sources.list" >&2

	finish_root "$dir"
}

finish_root() {
	local dir=$1 root=$1/root release
	awk '$1 == "kernel" { print $2, $3 }' "$candidates" >"$dir/kernels"
	# shellcheck disable=SC2016 # expanded by dpkg-query
	chroot "$root" dpkg-query -W -f '${Package} ${Version}\n' >"$dir/packages"
	awk '{ print $2 }' "$dir/kernels" | while read -r release; do
		# from 7.x on the kernel lies with its modules, and only the
		# hooks that are left out here copy it to /boot
		if [ ! -e "$root/boot/vmlinuz-$release" ]; then
			ln "$root/usr/lib/modules/$release/vmlinuz" \
				"$root/boot/vmlinuz-$release"
		fi
		chroot "$root" test -e "/lib/modules/$release/build/Makefile" ||
			vm_die "no headers of $release"
		chroot "$root" depmod "$release"
	done

	# rdma-core's own tests come as gzipped examples
	mkdir -p "$root/usr/lib/rdma-core-tests"
	cp -r "$root/usr/share/doc/rdma-core/tests" "$root/usr/lib/rdma-core-tests/"
	find "$root/usr/lib/rdma-core-tests" -name '*.gz' -exec gunzip {} +

	rm -f "$root/etc/resolv.conf"
	echo vm >"$root/etc/hostname"
	printf '127.0.0.1 localhost vm\n::1 localhost\n' >"$root/etc/hosts"
}

# In braces, so that bash has read all of it before it runs any of it: a build
# takes minutes, in which the script may change.
{
if [ -n "$update" ] || ! candidates_are_fresh; then
	vm_need_root
	vm_need apt-get flock
	exec {archive_lock}>"$archive/lock"
	flock "$archive_lock"
	if [ -n "$update" ] || ! archive_is_fresh; then
		update_archive ||
			vm_say "cannot read the archive of $suite ($archive/update.log), going on with what is known"
	fi
	if [ -n "$update" ] || ! candidates_are_fresh; then
		look_up_candidates || touch -c "$candidates"
	fi
	exec {archive_lock}>&-
fi
[ -z "$archive_only" ] || exit 0
[ -s "$candidates" ] || use_newest_root "the package archive of $suite is not known"

home=$roots/$suite-$(root_key)
if [ -z "$rebuild" ] && [ -d "$home" ]; then
	touch -c "$home/lock"
	echo "$home"
	exit 0
fi

vm_need_root
vm_need mmdebstrap unshare flock
exec {build_lock}>"$roots/.lock-$suite"
if ! flock --nonblock "$build_lock"; then
	vm_say "waiting for another run that builds the $suite root"
	flock "$build_lock"
fi
if [ -z "$rebuild" ] && [ -d "$home" ]; then
	echo "$home"
	exit 0
fi

vm_sweep "$vm_cache"/tmp/*/
tmp=$(mktemp -d "$vm_cache/tmp/$suite.XXXXXX")
chmod 755 "$tmp"
build_pid=
# shellcheck disable=SC2317 # by the trap
give_up() {
	# its own process group; with unshare goes all that is in its namespace
	[ -z "$build_pid" ] || kill -KILL -- "-$build_pid" 2>/dev/null || true
	[ -z "$build_pid" ] || wait "$build_pid" 2>/dev/null || true
	rm -rf --one-file-system "$tmp"
}
trap give_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
exec {tmp_lock}>"$tmp/lock"
flock "$tmp_lock"

vm_say "building the $suite root ($(awk '$1 == "kernel" { print $3 }' \
	"$candidates" | xargs)), which takes some minutes"
start=$SECONDS
set -m
(build_root "$tmp") </dev/null &
build_pid=$!
set +m
if ! wait "$build_pid"; then
	use_newest_root "cannot build the $suite root"
fi
build_pid=
if [ -d "$home" ]; then
	exec 8<"$home/lock"
	vm_say "waiting for the users of the old root"
	flock --exclusive 8
	vm_discard "$home"
fi
mv -T "$tmp" "$home"
trap - EXIT
exec {tmp_lock}>&-
vm_say "built in $((SECONDS - start)) s: $home"
# two checkouts may want different roots
vm_prune "$home" "$roots/$suite"-*/
echo "$home"
exit
}
