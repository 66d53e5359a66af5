"""What pyproject.toml cannot say: `configs/` travels inside the package as `s2s/configs`."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["s2s*"]), "s2s.configs"],
    package_dir={"s2s.configs": "configs"},
)
