"""The manifests for Kubernetes, read: what they name is there, and fits together.

There is no Kubernetes where tests run; docs/kubernetes.md says what each part is for.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from starlette.routing import Route

from s2s.app.cluster import environment
from s2s.app.cluster.application import build
from s2s.config import loader
from s2s.config.schema import Config
from s2s.config.typed import load_reference
from s2s.transport.server.app import make_app
from tests.support.http import client
from tests.support.serving import fake_server

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "contrib" / "kubernetes"
PLAIN = list(yaml.safe_load_all((FOLDER / "s2s.yaml").read_text(encoding="utf-8")))
RAY = yaml.safe_load((FOLDER / "rayservice.yaml").read_text(encoding="utf-8"))
SERVE = yaml.safe_load((ROOT / "contrib" / "cluster" / "serve.yaml").read_text(encoding="utf-8"))

AFTER_S = 10
"""What a process that has drained has to end."""


def of(kind: str) -> dict:
    [found] = [each for each in PLAIN if each["kind"] == kind]
    return found


def container() -> dict:
    [found] = of("Deployment")["spec"]["template"]["spec"]["containers"]
    return found


def values(env: list[dict]) -> dict[str, str]:
    """Those that are written out, and a stand-in for each that is secret."""
    return {each["name"]: each.get("value", "redis://secret:6379/0") for each in env}


def settings() -> Config:
    """As the program in the container reads them."""
    return loader.load(environment=values(container()["env"]))


def test_there_is_one_of_each_and_all_are_about_the_same_pods() -> None:
    kinds = [each["kind"] for each in PLAIN]
    assert sorted(kinds) == [
        "Deployment",
        "HorizontalPodAutoscaler",
        "Ingress",
        "PodDisruptionBudget",
        "Service",
    ]
    labels = of("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert of("Deployment")["spec"]["selector"]["matchLabels"] == labels
    assert of("Service")["spec"]["selector"] == labels
    assert of("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    target = of("HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
    named = of("Deployment")["metadata"]["name"]
    assert (target["kind"], target["name"]) == ("Deployment", named)
    assert of("HorizontalPodAutoscaler")["spec"]["minReplicas"] >= 2


def test_the_settings_are_settings_and_the_port_is_one_and_the_same() -> None:
    config = settings()
    assert config.serve.host == "0.0.0.0"
    assert config.serve.resume_store == "redis"
    [port] = container()["ports"]
    assert config.serve.port == port["containerPort"]
    annotations = of("Deployment")["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/port"] == str(config.serve.port)
    [served] = of("Service")["spec"]["ports"]
    assert served["targetPort"] == port["name"]
    [rule] = of("Ingress")["spec"]["rules"]
    [path] = rule["http"]["paths"]
    backend = path["backend"]["service"]
    assert backend["name"] == of("Service")["metadata"]["name"]
    assert backend["port"]["name"] == served["name"]
    assert {config.serve.api_key_env, config.serve.redis_url_env} <= {
        each["name"] for each in container()["env"] if "valueFrom" in each
    }


def test_what_is_probed_and_scraped_is_there_and_probes_need_no_key() -> None:
    server = fake_server(key="secret")
    paths = {route.path for route in make_app(server).routes if isinstance(route, Route)}
    annotations = of("Deployment")["spec"]["template"]["metadata"]["annotations"]
    probed = [container()[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness")]
    assert {annotations["prometheus.io/path"], *(each["path"] for each in probed)} <= paths
    with client(server) as http:
        for each in probed:
            assert each["port"] == container()["ports"][0]["name"]
            assert http.get(each["path"]).status_code == 200


def test_a_pod_that_ends_has_the_time_for_it() -> None:
    pod = of("Deployment")["spec"]["template"]["spec"]
    command, seconds = container()["lifecycle"]["preStop"]["exec"]["command"]
    readiness = container()["readinessProbe"]
    noticed_s = readiness["periodSeconds"] * readiness["failureThreshold"]
    assert command == "sleep"
    assert int(seconds) > noticed_s
    drain_s = settings().serve.drain_s
    assert drain_s == 30
    assert pod["terminationGracePeriodSeconds"] >= int(seconds) + drain_s + AFTER_S


def test_sockets_last_as_long_as_conversations_may() -> None:
    annotations = of("Ingress")["metadata"]["annotations"]
    for name in ("read", "send"):
        assert annotations[f"nginx.ingress.kubernetes.io/proxy-{name}-timeout"] == str(24 * 3600)
    assert annotations["nginx.ingress.kubernetes.io/affinity"] == "cookie"
    body = annotations["nginx.ingress.kubernetes.io/proxy-body-size"]
    assert int(body.removesuffix("m")) << 20 >= Config().serve.max_upload_bytes


def test_more_pods_come_before_all_places_are_taken() -> None:
    metrics = of("HorizontalPodAutoscaler")["spec"]["metrics"]
    [sessions] = [each["pods"] for each in metrics if each["type"] == "Pods"]
    assert sessions["metric"]["name"] == "s2s_sessions"
    assert "s2s_sessions " in fake_server().figures()
    assert float(sessions["target"]["averageValue"]) <= 0.75 * settings().serve.max_sessions


def test_kuberay_runs_what_serve_yaml_does() -> None:
    config = yaml.safe_load(RAY["spec"]["serveConfigV2"])
    assert config == SERVE
    [application] = config["applications"]
    assert load_reference(application["import_path"]) is build
    assert config["http_options"]["port"] == application["args"]["settings"]["serve"]["port"]


def test_kuberay_has_the_variables_that_ray_needs_on_every_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(environment, "haproxy_installed", lambda: True)
    monkeypatch.setattr(environment.tempfile, "gettempdir", lambda: "/tmp")
    [application] = yaml.safe_load(RAY["spec"]["serveConfigV2"])["applications"]
    given = application["args"]["settings"]
    config = loader.from_tree(loader.typed.tree(given, "the manifest"))
    needed = environment.variables(config)
    cluster = RAY["spec"]["rayClusterConfig"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        [pod] = group["template"]["spec"]["containers"]
        env = values(pod["env"])
        assert config.serve.api_key_env in env
        assert {name: env.get(name) for name in needed} == needed
        grace_s = group["template"]["spec"]["terminationGracePeriodSeconds"]
        assert grace_s >= config.cluster.drain_s + AFTER_S
    [workers] = cluster["workerGroupSpecs"]
    assert workers["maxReplicas"] * 1.0 >= config.cluster.max_replicas * config.cluster.cpus / 2
