# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What is built is in Kbuild; "make help" lists the targets.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
KERNEL ?= 6.12

modules:
	@test -e $(KDIR)/Makefile || { \
		echo "$(KDIR) has no kernel headers: install linux-headers-$(KVER)," \
		     "or say KDIR=DIRECTORY (or 'make modules-all')" >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

clean:
	find . -path ./build -prune -o -type f \( \
		-name '*.o' -o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' -o \
		-name '*.o.d' -o -name '.*.cmd' -o -name 'Module.symvers' -o \
		-name 'modules.order' -o -name '.module-common.c' \) -exec rm -f {} +
	rm -rf build

install: modules
	scripts/install-module $(KDIR) rdma_rxe.ko

uninstall:
	scripts/install-module --remove $(KDIR)

dkms-install:
	scripts/install-dkms $(KVER)

dkms-uninstall:
	scripts/install-dkms --remove

deb:
	scripts/build-deb

modules-all: bootstrap
	scripts/build-modules

check: bootstrap
	scripts/check

demo: bootstrap
	tools/testing/vm/run.sh --kernel $(KERNEL) -- tools/testing/vm/demo.sh

test:
	scripts/test

test-suites:
	scripts/test --long

# KERNEL is 7.3 here unless it is given
bench: bootstrap
	tools/testing/vm/bench.sh --kernel $(if $(filter file,$(origin KERNEL)),7.3,$(KERNEL)) \
		--json build/bench.json $(FIGURES)

bench-smp: bootstrap
	tools/testing/vm/bench.sh --smp --kernel $(if $(filter file,$(origin KERNEL)),7.3,$(KERNEL)) \
		--json build/bench-smp.json

test-debug:
	scripts/test debug-kselftest debug-pyverbs debug-perftest

test-soak:
	scripts/test fuzz soak

bootstrap:
	@scripts/bootstrap

help:
	@echo 'Build (headers of the kernel are enough):'
	@echo '  modules         rdma_rxe.ko for the running kernel (default);'
	@echo '                  KVER=RELEASE or KDIR=DIRECTORY for another one'
	@echo '  clean           remove what was built'
	@echo 'Install (as root):'
	@echo '  dkms-install    with DKMS, which rebuilds it for each new kernel; KVER='
	@echo '  dkms-uninstall  give the distribution its module back'
	@echo '  deb             build/rdma-rxe-dkms_*_all.deb, the same as a package'
	@echo '  install         the plain module, below /lib/modules/*/updates; KVER=, KDIR='
	@echo '  uninstall       remove that one'
	@echo 'Try and test (as root on Debian; a virtual machine runs the module):'
	@echo '  demo            two namespaces, RDMA between them; KERNEL=6.1|6.12|7.3'
	@echo '  test            everything, on all kernels'
	@echo '  test-debug      on a kernel with KASAN, lockdep and kmemleak, which is'
	@echo '                  built first (half an hour)'
	@echo '  test-suites     the suites of others (rdma-core, perftest, UCX, MPI ...), long'
	@echo '  test-soak       a million packets, 500 acts of an administrator, 10,000 QPs,'
	@echo '                  a million MRs, a fuzzer; hours'
	@echo '  bench           throughput and latency beside those of the in-tree driver and'
	@echo '                  of TCP; KERNEL= (7.3), FIGURES= (bench.sh --list)'
	@echo '  bench-smp       throughput of several QPs on two CPUs, as ratios'
	@echo '  check           static checks'
	@echo '  modules-all     build/KERNEL/rdma_rxe.ko for all kernels'

.PHONY: modules clean install uninstall dkms-install dkms-uninstall deb \
	modules-all check bench bench-smp demo test test-suites test-debug test-soak \
	bootstrap help
