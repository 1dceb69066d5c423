#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# debug-kernel.sh [--rebuild] [--cached] NAME
#
# Prints the directory of the debug kernel NAME, such as 6.12-debug: Debian's
# linux-source-6.12 with the options of debug/*.config (KASAN, lockdep, kmemleak
# and others).  Builds it first if the cache has none for these options, the
# version that the archive offers and the compiler: that takes half an hour on
# two processors.
#
#   --rebuild  build it even if there is one
#   --cached   fail rather than build it
#
# The directory holds
#   vmlinux   what QEMU boots
#   release   the kernel's full name
#   config    its configuration
#   modules/lib/modules/RELEASE/        its modules
#   modules/lib/modules/RELEASE/build/  what other modules are built against
#   boot/     made by boot-files.sh and depmod.sh
#   lock      users hold a shared lock on it
#
# It is built in a directory of its own and renamed when it is complete.

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

rebuild='' cached='' name=''
while [ $# -gt 0 ]; do
	case $1 in
	--rebuild) rebuild=1 ;;
	--cached) cached=1 ;;
	--sweep) vm_sweep "$vm_cache/debug"/tmp.*/; exit 0 ;;
	-h|--help) sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
	-*) vm_die "unknown option $1" ;;
	*) name=$1 ;;
	esac
	shift
done
vm_is_debug "$name" || vm_die "'$name' is not the name of a debug kernel"
kernel=${name%-debug}
suite=$(vm_suite "$name")
package=linux-source-$kernel
# of the suite, for a kernel's build, beside what a root has
tools=(bc bison flex m4 libsigsegv2)

kernels=$vm_cache/debug
archive=$vm_cache/archive/$suite
offer=$archive/source-$kernel
mkdir -p "$kernels"

# look_up_offer: the version of $package in the archive, to $offer
look_up_offer() {
	local version
	vm_need_root
	vm_need apt-get
	# reads the archive's list of packages, if it is a day old
	"$vm_dir/root.sh" --archive-only "$suite" || return
	[ ! -s "$offer" ] || [ "$archive/updated" -nt "$offer" ] || return 0
	version=$(vm_apt "$suite" apt-cache policy "$package" | awk '$1 == "Candidate:" { print $2 }')
	[ -n "$version" ] && [ "$version" != '(none)' ] || return
	echo "$version" >"$offer.new"
	mv "$offer.new" "$offer"
}

# Everything that the kernel depends on but the source's version and the compiler.
recipe() {
	declare -f build_kernel
	printf '%s\n' "$inside" "${tools[@]}"
	cat "$vm_dir"/debug/*.config
}

kernel_key() {
	{
		cat "$offer"
		grep -E '^(gcc-[0-9]+|binutils) ' "$vm_home/packages"
		recipe
	} | sha256sum | cut -c 1-16
}

# In a chroot of the root, with DIR: "work" in it becomes DIR/modules and the rest.
# install-extmod-build is what the kernel's own packages of headers are made with.
# shellcheck disable=SC2016 # for the inner shell
inside='
	set -e
	cd "$1/work"
	for package in tools/*.deb; do dpkg -x "$package" /; done
	cd src

	scripts/kconfig/merge_config.sh -Q -n ../base.config ../debug.config >../merge.log 2>&1 ||
		{ cat ../merge.log; exit 1; }
	# it only warns
	if grep -A3 "^Value requested" ../merge.log; then
		echo "options were lost"
		exit 1
	fi
	make -s -j"$(nproc)" vmlinux modules

	release=$(make -s kernelrelease)
	modules=../../modules/lib/modules/$release
	make -s INSTALL_MOD_PATH="$PWD/../../modules" INSTALL_MOD_STRIP=1 modules_install >/dev/null
	rm -f "$modules/build" "$modules/source"
	srctree=. SRCARCH=x86 KCONFIG_CONFIG=.config CC=gcc HOSTCC=gcc MAKE=make \
		scripts/package/install-extmod-build "$modules/build"
	echo "$release" >../../release
	cp .config ../../config
	# QEMU loads all of an ELF file; symbols come from kallsyms
	strip -o ../../vmlinux vmlinux
'

# build_kernel DIR
build_kernel() {
	local dir=$1 work=$1/work
	mkdir -p "$work/src" "$work/tools" "$dir/boot"
	cp "$vm_dir"/debug/*.config "$work/"
	(cd "$work/tools" && vm_apt "$suite" apt-get -qq download "${tools[@]}" >&2)
	(cd "$work" && vm_apt "$suite" apt-get -qq download "$package=$(cat "$offer")" >&2)
	# The in-tree driver is left out on purpose; Kconfig wants its directory.
	dpkg-deb --fsys-tarfile "$work"/*.deb | tar -xO --wildcards '*.tar.xz' |
		tar -xJ -C "$work/src" --strip-components=1 \
			--exclude='*/drivers/infiniband/sw/rxe/*.[ch]'
	rm "$work"/*.deb
	"$vm_dir/chroot.sh" --kernel "$kernel" --bind "$dir" -- \
		/bin/sh -c "$inside" sh "$dir" >&2
}

# use_newest WHY: better than none
use_newest() {
	local old
	# shellcheck disable=SC2012 # the names are ours
	old=$(ls -td "$kernels/$name"-*/ 2>/dev/null | sed 's,/$,,' | head -n 1)
	[ -n "$old" ] || vm_die "$1"
	vm_say "$1: using the last one, $old"
	echo "$old"
	exit 0
}

# In braces, so that bash has read all of it before it runs any of it.
{
look_up_offer || [ -s "$offer" ] || use_newest "no version of $package is known"
vm_lock_root "$suite"
home=$kernels/$name-$(kernel_key)
if [ -z "$rebuild" ] && [ -d "$home" ]; then
	touch -c "$home/lock"
	echo "$home"
	exit 0
fi
[ -z "$cached" ] || vm_die "$name is not in the cache"

vm_need_root
vm_need flock dpkg-deb tar xz
exec {build_lock}>"$kernels/.lock-$name"
if ! flock --nonblock "$build_lock"; then
	vm_say "waiting for another run that builds $name"
	flock "$build_lock"
fi
if [ -z "$rebuild" ] && [ -d "$home" ]; then
	echo "$home"
	exit 0
fi

# not below $vm_cache/tmp, which chroot.sh covers
vm_sweep "$kernels"/tmp.*/
tmp=$(mktemp -d "$kernels/tmp.$name.XXXXXX")
chmod 755 "$tmp"
build_pid=
# shellcheck disable=SC2317 # by the trap
give_up() {
	[ -z "$build_pid" ] || kill -KILL -- "-$build_pid" 2>/dev/null || true
	[ -z "$build_pid" ] || wait "$build_pid" 2>/dev/null || true
	rm -rf --one-file-system "$tmp"
}
trap give_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
exec {tmp_lock}>"$tmp/lock"
flock "$tmp_lock"

vm_say "building $name ($package $(cat "$offer")), which takes half an hour"
start=$SECONDS
set -m
(build_kernel "$tmp") </dev/null &
build_pid=$!
set +m
wait "$build_pid" || vm_die "cannot build $name"
build_pid=
if [ -d "$home" ]; then
	exec 8<"$home/lock"
	vm_say "waiting for the users of the old one"
	flock --exclusive 8
	vm_discard "$home"
fi
# 100,000 files, whose removal can take as long as the build: nobody has to wait
mkdir "$tmp.work"
: >"$tmp.work/lock"
mv "$tmp/work" "$tmp.work/"
mv -T "$tmp" "$home"
trap - EXIT
exec {tmp_lock}>&-
vm_say "built in $((SECONDS - start)) s: $home"
vm_prune "$home" "$kernels/$name"-*/
echo "$home"
setsid "$0" --sweep </dev/null >/dev/null 2>&1 &
exit
}
