# `make test` and `make demo` are each enough on a fresh Debian machine with python3, g++ and make.
# Set-up steps leave stamps in build/, so that the next run starts where something changed.
VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check
INSTALL := $(PIP) --no-build-isolation --no-deps --force-reinstall .
SOURCES := $(shell find include src cmake python -type f -not -name '*.pyc' -not -name '*.so') \
           CMakeLists.txt pyproject.toml
EXECUTOR := $(shell find tests/cuda/executor tests/cuda/python -type f)
FORMATTED := $(shell find include src python/bindings tests/cpp tests/cuda benchmarks examples \
                     -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh')
EXPERIMENTS := sorting knn topk autoencoder
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

.PHONY: test test-cpp test-sanitize test-cuda test-nvcc test-gpu cuda-resources test-consumer \
        test-python demo bench bench-short bench-cpp experiments $(EXPERIMENTS:%=experiment-%) \
        lint format clean

test: test-cpp test-sanitize test-consumer test-nvcc test-python

test-cpp: build/system.stamp
	cmake --preset test
	cmake --build --preset test
	ctest --preset test

test-sanitize: build/system.stamp
	cmake --preset sanitize
	cmake --build --preset sanitize
	ctest --preset sanitize

test-cuda: build/system.stamp
	cmake --preset test
	cmake --build --preset cuda
	ctest --preset cuda

# Installs lapsum from the build $(1), and builds the example $(2) with it.
define EXAMPLE
	cmake --install build/$(1) --prefix build/installed-$(1)
	cmake -G Ninja -S examples/$(2) -B build/$(2)-$(1) -DCMAKE_BUILD_TYPE=Release \
	      -DCMAKE_PREFIX_PATH=$(CURDIR)/build/installed-$(1)
	cmake --build build/$(2)-$(1)
endef

# Kernels through the compiler for GPUs: what they take of one, and a program that links them, which
# ends with 2 where there is no GPU.
test-nvcc: build/system.stamp
ifeq ($(shell command -v nvcc),)
	@echo "test-nvcc: skipped. There is no nvcc, so no kernel was compiled for a GPU, and its" \
	      "registers and spills were not checked against tests/cuda/resources.csv."
else
	cmake --preset nvcc
	cmake --build --preset nvcc
	ctest --preset nvcc
	$(call EXAMPLE,nvcc,cuda)
	build/cuda-nvcc/lapsum_cuda_example || test $$? -eq 2
endif

# All tests of kernels, on the GPU of this machine, and of torch with them.
test-gpu: build/test-tools.stamp
	cmake --preset gpu
	cmake --build --preset gpu
	$(call EXAMPLE,gpu,cuda)
	@build/cuda-gpu/lapsum_cuda_example || \
	  { echo "test-gpu: all is built, but NOTHING WAS TESTED: see the line above" >&2; exit 1; }
	ctest --preset gpu
	@$(PYTHON) -c "import torch; assert torch.cuda.is_available()" || \
	  { echo "test-gpu: the kernels were tested, but torch in $(VENV) has no CUDA:" \
	         "NOTHING OF TORCH WAS TESTED" >&2; exit 1; }
	rm -f build/package.stamp
	$(INSTALL) -C cmake.define.LAPSUM_CUDA=ON
	$(PYTHON) -m pytest tests/python/test_torch_gpu.py

# Registers, spills, shared memory and occupancy of every kernel, for all architectures.
cuda-resources: build/system.stamp
	cmake --preset gpu
	cmake --build --preset gpu --target resources

test-consumer: build/system.stamp
	cmake --preset test
	cmake --build --preset test --target lapsum
	$(call EXAMPLE,test,consumer)
	build/consumer-test/consumer

test-python: build/package.stamp build/test-tools.stamp build/module.stamp
	LAPSUM_CUDA_MODULE=$$(ls build/module/tests/cuda/python/_cuda*) \
	$(PYTHON) -m pytest --numprocesses 2

demo: build/package.stamp
	$(PYTHON) examples/demo.py

bench: build/package.stamp build/peers.stamp
	$(PYTHON) benchmarks/run.py

bench-short: build/package.stamp build/test-tools.stamp
	$(PYTHON) benchmarks/run.py --short

bench-cpp: build/bench-system.stamp
	cmake --preset bench
	cmake --build --preset bench
	build/bench-cpp/benchmarks/cpp/lapsum_benchmarks $(BENCH_ARGS)

experiments: $(EXPERIMENTS:%=experiment-%)

$(EXPERIMENTS:%=experiment-%): experiment-%: build/package.stamp build/peers.stamp build/data.stamp
	$(PYTHON) experiments/$*.py $(EXPERIMENT_ARGS)

lint: build/test-tools.stamp
	$(VENV)/bin/clang-format --dry-run --Werror $(FORMATTED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(PYTHON) tests/cuda/resources.py --docs

format: build/test-tools.stamp
	$(VENV)/bin/clang-format -i $(FORMATTED)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf build demo $(VENV)

build/system.stamp: scripts/system_packages.sh
	scripts/system_packages.sh
	mkdir -p build && touch $@

build/venv.stamp: examples/requirements.txt build/system.stamp
	python3 -m venv $(VENV)
	$(PIP) -r examples/requirements.txt
	touch $@

build/test-tools.stamp: tests/requirements.txt build/venv.stamp
	$(PIP) -r tests/requirements.txt
	touch $@

build/bench-system.stamp: build/system.stamp
	scripts/system_packages.sh libbenchmark-dev
	touch $@

build/peers.stamp: benchmarks/requirements.txt benchmarks/install_peers.sh build/test-tools.stamp
	benchmarks/install_peers.sh $(PYTHON)
	touch $@

build/data.stamp: experiments/requirements.txt build/venv.stamp
	scripts/system_packages.sh dataset-fashion-mnist
	$(PIP) --no-deps -r experiments/requirements.txt
	touch $@

build/module.stamp: build/venv.stamp $(SOURCES) $(EXECUTOR)
	cmake --preset module -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) \
	      -Dnanobind_DIR=$$($(PYTHON) -m nanobind --cmake_dir)
	cmake --build --preset module
	touch $@

build/package.stamp: build/venv.stamp $(SOURCES)
	$(INSTALL)
	touch $@
