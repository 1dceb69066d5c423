#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# kernel-source-scripts.sh
#
# Prints the directory of a kernel tree of which a few files are there: in scripts/
# checkpatch.pl with its lists of words and structs, and kernel-doc; and what all
# kselftests share.  No package of headers has them: they are taken once from a
# source package (some 150 MB, of which only these are kept).

set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite=bookworm package=linux-source-6.12
wanted=(scripts/{checkpatch.pl,spelling.txt,const_structs.checkpatch,kernel-doc}
	scripts/subarch.include tools/testing/selftests/{Makefile,lib.mk,run_kselftest.sh}
	tools/testing/selftests/kselftest'*')

# another list makes another directory
out=$vm_cache/kernel-source-scripts/$package-$(cksum <<<"${wanted[*]}" | cut -d ' ' -f 1)
if [ -d "$out" ]; then
	echo "$out"
	exit 0
fi

vm_need apt-get dpkg-deb tar xz flock
mkdir -p "${out%/*}"
exec {lock}>"${out%/*}/.lock"
flock "$lock"
if [ ! -d "$out" ]; then
	# reads the archive's list of packages, if nobody has
	"$vm_dir/root.sh" --archive-only "$suite"
	tmp=$(mktemp -d "${out%/*}/tmp.XXXXXX")
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	vm_say "fetching $package"
	(cd "$tmp" && vm_apt "$suite" apt-get -qq download "$package" >&2)
	mkdir "$tmp/tree"
	dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -xO --wildcards '*.tar.xz' |
		tar -xJ -C "$tmp/tree" --strip-components=1 --wildcards "${wanted[@]/#/*/}"
	mv -T "$tmp/tree" "$out"
fi
echo "$out"
