"""What pyproject.toml cannot say: `configs/` travels inside the package as `s2s/configs`, and an
editable install puts this folder on the path, as a plain line in a .pth file.

Setuptools' other way, an import hook, comes after the path: there `python -m s2s` in a folder that
holds any folder called s2s (such as the one that was cloned into) finds that folder instead.
"""

from setuptools import find_packages, setup
from setuptools.command.editable_wheel import editable_wheel


class OnThePath(editable_wheel):
    """`pip install --editable`."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.mode = "compat"


setup(
    packages=[*find_packages(include=["s2s*"]), "s2s.configs"],
    package_dir={"s2s.configs": "configs"},
    cmdclass={"editable_wheel": OnThePath},
)
