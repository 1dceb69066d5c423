# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build

modules:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

.PHONY: modules
