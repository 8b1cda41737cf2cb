"""Adds the binary to the wheel as a command of the environment, and the tag of its platform. `.ci/distribute` sets both."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Binary(BuildHookInterface):
    def initialize(self, version, build_data):
        binary = os.environ["STRATA_WHEEL_BINARY"]
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['STRATA_WHEEL_PLATFORM']}"
        build_data["shared_scripts"] = {binary: os.path.basename(binary)}
