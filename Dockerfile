# syntax=docker/dockerfile:1
# docker build -t sojourn . && docker run --rm -v "$PWD:/work" sojourn home --down 200 --up 20 --access docsis31
FROM rust:1.95-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# The wheel of one interpreter serves every CPython from 3.11 on.
RUN python3 -m venv /build \
    && /build/bin/pip install --no-cache-dir --require-hashes --requirement requirements/setup.txt \
    && CARGO_ENCODED_RUSTFLAGS="$(tools/release-flags)" /build/bin/maturin build --release --locked --out /wheels

FROM python:3.11-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/sojourn-*.whl)[sql,field,serve]" \
    && rm -rf /wheels \
    && useradd --create-home --uid 1000 sojourn
USER 1000
WORKDIR /work
ENTRYPOINT ["sojourn"]
CMD ["--help"]
