"""One wheel for every Python: the package uses ctypes, only its library depends on the platform.
scripts/wheel.sh sets the variables."""

import os

from setuptools import setup
from wheel.bdist_wheel import bdist_wheel


class PlatformWheel(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", os.environ["RANKSCOPE_WHEEL_PLATFORM"]


setup(version=os.environ["RANKSCOPE_WHEEL_VERSION"], cmdclass={"bdist_wheel": PlatformWheel})
