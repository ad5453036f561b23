#!/usr/bin/env python3
"""Images by buildah (no daemon; chroot isolation), their containers by runc, in a network of their own: the page docs/containers.md, the compose file
and the manifests for Kubernetes are followed as they stand. docker is a few lines here; what a kubelet does to volumes is done as it does it.

usage: containers.py FOLDER        with tacitd_*.deb and base, a bare Debian; root. Everything else is made in FOLDER/images
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import yaml

SOURCE = pathlib.Path(__file__).resolve().parents[2]
USER = 10001
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
APT = ("/etc/apt", "/etc/ssl/certs", "/usr/share/keyrings", "/etc/resolv.conf", "/etc/hosts")  # how this machine reaches packages
IMAGES = ("broker", "coordinator", "site")


def require(condition, text):
    if not condition:
        raise AssertionError(text)


def wait_for(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.2)
    raise AssertionError(f"after {seconds} s still not: {what}")


def run(*words, code=0, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    require(code is None or done.returncode == code, f"{words}: {done.returncode} {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


class Images:
    """buildah, with a store in our folder."""

    def __init__(self, folder):
        self.words = ["buildah", "--root", folder / "store", "--runroot", folder / "runroot"]
        self.roots, self.mounted = {}, []

    def call(self, *words, **more):
        return run(*self.words, *words, **more).stdout.strip()

    def base(self, root):
        container = self.call("from", "scratch")
        self.call("add", "--quiet", container, root, "/")
        self.call("commit", "--quiet", "--rm", container, "tacit-test-base")

    def build(self, name, file, place):
        mounts = [word for path in APT if os.path.exists(path) for word in ("--volume", f"{path}:{path}:ro")]
        self.call("build", "--isolation", "chroot", "--format", "docker", "--build-arg", "BASE=localhost/tacit-test-base", "--tag", name,
                  *mounts, "--file", file, place, cwd=place)

    def config(self, name):
        return json.loads(self.call("inspect", "--type", "image", name))["Docker"]

    def root(self, name):
        if name not in self.roots:
            self.mounted.append(self.call("from", "--pull-never", name))
            self.roots[name] = self.call("mount", self.mounted[-1])
        return self.roots[name]

    def close(self):
        if self.mounted:
            self.call("rm", *self.mounted, code=None)


class Container:
    """A bundle for runc: the image's root, read-only; its user; no capability; the network of this process."""
    images = None
    hosts = None
    running = []

    def __init__(self, folder, name, image, mounts, words=None, groups=()):
        self.name, self.config = name, self.images.config(image)["config"]
        self.bundle, self.log = folder / "bundles" / name, folder / f"{name}.log"
        shutil.rmtree(self.bundle, ignore_errors=True)
        self.bundle.mkdir(parents=True)
        run("runc", "spec", cwd=self.bundle)
        spec = json.loads((self.bundle / "config.json").read_text())
        user, group = map(int, self.config["User"].split(":"))
        spec["root"] = {"path": self.images.root(image), "readonly": True}
        spec["process"] |= {"args": self.config["Entrypoint"] + (words or self.config["Cmd"]), "terminal": False, "capabilities": {}, "cwd": "/",
                            "user": {"uid": user, "gid": group, "additionalGids": list(groups)}, "noNewPrivileges": True}
        spec["linux"]["namespaces"] = [one for one in spec["linux"]["namespaces"] if one["type"] != "network"]
        spec["linux"].pop("resources", None)
        spec["mounts"] = [one for one in spec["mounts"] if one["type"] not in ("cgroup", "sysfs")]
        for source, target, mode in [*mounts, (self.hosts, "/etc/hosts", "ro")]:
            spec["mounts"].append({"source": str(source), "destination": target, "type": "bind", "options": ["bind", mode]})
        (self.bundle / "config.json").write_text(json.dumps(spec))
        self.process = None

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(["runc", "run", "--bundle", self.bundle, self.name], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        Container.running.append(self)
        return self

    def probe(self, words):
        return run("runc", "exec", self.name, *words, code=None).returncode

    def is_healthy(self):
        check = self.config.get("Healthcheck")
        return check is None or self.probe(check["Test"][1:]) == 0

    def stop(self, grace=60):
        """As an orchestrator does: SIGTERM, and then wait."""
        run("runc", "kill", self.name, "TERM")
        code = self.process.wait(grace)
        Container.running.remove(self)
        return code


def look_at(images, name):
    about = images.config(f"tacit-{name}")
    root = pathlib.Path(images.root(f"tacit-{name}"))
    require(about["config"]["User"] == f"{USER}:{USER}" and about["config"]["StopSignal"] == "SIGTERM", f"{name}: {about['config']}")
    require(len(about["rootfs"]["diff_ids"]) == 1, f"{name}: layers: {about['rootfs']}")
    require(name == "broker" or "--alive" in about["config"]["Healthcheck"]["Test"], f"{name}: no health check")
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    programs = [path for path in files if path.stat().st_mode & 0o111 and ".so" not in path.name]
    require([path.name for path in programs] == ["mosquitto" if name == "broker" else "tacitd"], f"{name}: programs: {programs}")
    require(not any(path.stat().st_mode & 0o6000 for path in files), f"{name}: setuid")
    require(any((root / "var/lib/dpkg/status.d").iterdir()), f"{name}: a scanner finds nothing")
    size = sum(path.stat().st_size for path in files)
    require(size <= 25 << 20, f"{name}: {size} bytes")
    print(f"   tacit-{name}: {size / 1e6:.1f} MB, one layer, one program, no shell")


# ---- The page, and Docker Compose

DOCKER = """#!/bin/bash
exec {python} {script} --docker {folder} "$@"
"""


def docker(folder, words):
    """The docker of the page: build -t NAME -f FILE PLACE; run --rm --network none -v A:B IMAGE WORDS..."""
    images = Container.images = Images(folder)
    Container.hosts = folder / "hosts"
    if words[0] == "build":
        return images.build(words[2], words[4], words[5])
    source, target = words[5].split(":")
    container = Container(folder, "docker", words[6], [(source, target, "rw")], words[7:]).start()
    code = container.process.wait()
    images.close()
    print(container.log.read_text(), end="")
    sys.exit(code)


def follow(folder, place, block):
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin/docker").write_text(DOCKER.format(python=sys.executable, script=__file__, folder=folder))
    (folder / "bin/docker").chmod(0o755)
    run("bash", "-euc", block, cwd=place, env=os.environ | {"PATH": f"{folder}/bin:{os.environ['PATH']}"})


def ask(folder, path, body="{}"):
    done = run("curl", "--silent", "--unix-socket", folder, "-X", "POST" if body else "GET", f"http://localhost{path}", *(("-d", body) if body else ()))
    return json.loads(done.stdout)


def composed(folder, place):
    """What docker-compose would start."""
    said = yaml.safe_load(run("docker-compose", "config", cwd=place).stdout)
    run("docker-compose", "config", "--quiet", cwd=place)
    for name, service in said["services"].items():
        require(service["read_only"] and service["cap_drop"] == ["ALL"] and "no-new-privileges:true" in service["security_opt"], f"{name}: {service}")
        mounts = []
        for volume in service["volumes"]:
            source, target, mode = volume.split(":")
            if not source.startswith("/"):  # a new volume has owner and mode of the image's folder
                found = pathlib.Path(Container.images.root(service["image"]) + target).stat()
                source = folder / "volumes" / source
                source.mkdir(parents=True)
                os.chown(source, found.st_uid, found.st_gid)
                source.chmod(found.st_mode & 0o7777)
            mounts.append((source, target, mode))
        yield Container(folder, name, service["image"], mounts)


def all_is_well(container, file):
    return container.probe(["/usr/bin/tacitd", "status", "--config", file]) == 0


def play(socket):
    decision = ask(socket, "/v1/decisions")
    require(decision["kind"] == "planned", f"{decision}")
    require(ask(socket, "/v1/rewards", json.dumps({"id": decision["id"], "reward": 0.5})) == {"status": "accepted"}, "the reward")


def test_compose(folder, place):
    containers = {container.name: container.start() for container in composed(folder, place)}
    sites = [containers["north"], containers["south"]]
    wait_for("the sites have joined", lambda: all(all_is_well(site, "/etc/tacit/site.yaml") for site in sites))
    require(all(container.is_healthy() for container in containers.values()), "a health check")
    play(folder / "volumes/north-run/agent.sock")
    for container in sites + [containers["coordinator"]]:
        require(container.stop() == 0, f"{container.name}: SIGTERM, and it does not end well")
    containers["broker"].stop()


# ---- Kubernetes

def projected(folder, volume, files):
    """As the kubelet makes it: root's, for the group to read; links into a folder that is exchanged."""
    inside = folder / "..2026_11_28"
    inside.mkdir(parents=True)
    for name, data in files.items():
        (inside / name).write_bytes(data)
        os.chown(inside / name, 0, USER)
        (inside / name).chmod(volume["projected"]["defaultMode"])
        (folder / name).symlink_to(f"..data/{name}")
    (folder / "..data").symlink_to("..2026_11_28")
    own(folder)


def own(folder):
    """fsGroup: everything is the group's, too (whatever is a link, or read-only, stays)."""
    for path in [folder, *folder.rglob("*")]:
        if path.is_symlink() or path.is_socket() or (path.is_file() and not path.stat().st_mode & 0o200):
            continue
        os.chown(path, -1, USER)
        path.chmod(path.stat().st_mode & 0o7777 | (0o2770 if path.is_dir() else 0o660))


def pod(folder, workload, objects, secrets):
    spec = workload["spec"]["template"]["spec"]
    security = spec["securityContext"]
    require(security["runAsUser"] == security["fsGroup"] == USER and security["runAsNonRoot"], f"{security}")
    volumes = {}
    claims = [{"name": claim["metadata"]["name"]} for claim in workload["spec"].get("volumeClaimTemplates", [])]
    for volume in spec["volumes"] + claims:
        place = folder / volume["name"]
        if "projected" in volume:
            files = {}
            for source in volume["projected"]["sources"]:
                kind, name = ("secret", source["secret"]["name"]) if "secret" in source else ("configMap", source["configMap"]["name"])
                found = objects.get(("ConfigMap", name), {}).get("data") if kind == "configMap" else None
                files |= {key: text.encode() for key, text in found.items()} if found else secrets[name]
            projected(place, volume, files)
        else:
            place.mkdir(parents=True)  # a new file system: root's, 0755
            own(place)
        volumes[volume["name"]] = place
    for container in spec["containers"]:
        closed = container["securityContext"]
        require(closed["readOnlyRootFilesystem"] and not closed["allowPrivilegeEscalation"] and closed["capabilities"]["drop"] == ["ALL"], f"{closed}")
        mounts = [(volumes[one["name"]], one["mountPath"], "ro" if one.get("readOnly") else "rw") for one in container["volumeMounts"]]
        made = Container(folder, f"{workload['metadata']['name']}-{container['name']}", container["image"], mounts, groups=[USER])
        made.volumes = volumes
        made.liveness = container.get("livenessProbe", {}).get("exec", {}).get("command")
        yield made


def test_kubernetes(folder, keys):
    def files(folder, pattern):
        return {path.name: path.read_bytes() for path in sorted(folder.glob(pattern))}

    secrets = {"tacit-broker-keys": files(keys / "broker", "*.*r*") | files(keys / "broker", "broker.*"),
               "tacit-broker": files(keys / "broker", "mosquitto.conf") | files(keys / "broker", "tacit.acl")}
    secrets |= {f"tacit-{name}-keys": files(keys / name, "*.crt") | files(keys / name, "*.key") | files(keys / name, "*.crl")
                for name in ("coordinator", "north", "south")}
    texts = [(SOURCE / "packaging/kubernetes" / name).read_text() for name in ("hub.yaml", "site.yaml")]
    texts.append(texts[1].replace("north", "south"))
    objects = {(one["kind"], one["metadata"]["name"]): one for text in texts for one in yaml.safe_load_all(text)}
    pods = {key[1]: list(pod(folder / key[1], one, objects, secrets)) for key, one in objects.items() if key[0] in ("Deployment", "StatefulSet")}
    sites, coordinator = [pods["tacit-north"][0], pods["tacit-south"][0]], pods["tacit-hub"][1]
    runs = []
    for _ in range(2):
        for container in [*pods["tacit-hub"], *sites]:
            container.start()
        wait_for("the sites have joined", lambda: all(all_is_well(site, "/etc/tacit/site.yaml") for site in sites))
        require(all(one.probe(one.liveness) == 0 for one in (*sites, coordinator)), "a liveness probe")
        play(sites[0].volumes["run"] / "agent.sock")
        runs.append(ask(sites[0].volumes["run"] / "agent.sock", "/v1/status", None)["run"])
        pods["tacit-hub"][0].stop()
        require(sites[0].probe(sites[0].liveness) == 0, "a site without its broker is alive")
        for container in (*sites, coordinator):
            require(container.stop() == 0, f"{container.name}: SIGTERM, and it does not end well")
        for container in (*sites, coordinator):
            state = container.volumes["state"] / "state"
            require(state.stat().st_uid == USER, "whose the state is")
            own(container.volumes["state"])  # the next pod's kubelet does
            require(state.stat().st_mode & 0o7777 == 0o2770, f"{state.stat().st_mode:o}")
    require(runs[0] == runs[1], f"the second time it is another run: {runs}")


def main(folder):
    images_folder = folder / "images"
    images = Container.images = Images(images_folder)
    Container.hosts = images_folder / "hosts"
    if "--inside" not in sys.argv:
        shutil.rmtree(images_folder, ignore_errors=True)
        images_folder.mkdir()
        shutil.copytree(SOURCE / "packaging/containers", images_folder / "place")
        for package in folder.glob("tacitd_*.deb"):
            shutil.copy(package, images_folder / "place")
        (images_folder / "hosts").write_text("127.0.0.1 localhost broker tacit-hub\n")
        images.base(folder / "base")
        build = BLOCK.findall((SOURCE / "docs/containers.md").read_text())[0].splitlines()[-1]
        follow(images_folder, images_folder / "place", build)
        for name in IMAGES:
            look_at(images, name)
        os.execvp("unshare", ["unshare", "--net", sys.executable, __file__, str(folder), "--inside"])
    run("ip", "link", "set", "lo", "up")
    for name in ("compose", "keys", "kubernetes"):
        shutil.rmtree(images_folder / name, ignore_errors=True)
    try:
        place = images_folder / "place"
        page = BLOCK.findall((SOURCE / "docs/containers.md").read_text())
        follow(images_folder, place, page[1])
        test_compose(images_folder / "compose", place)
        print("   Docker Compose: the page is followed to a decision; health checks; SIGTERM")
        keys = images_folder / "keys"
        shutil.copytree(SOURCE / "packaging/containers", keys)
        follow(images_folder, keys, page[1].replace("--host broker", "--host tacit-hub"))
        test_kubernetes(images_folder / "kubernetes", keys)
        print("   Kubernetes: volumes and secrets of a group, links, probes, SIGTERM; the same run after it")
    except AssertionError:
        for log in sorted([*images_folder.glob("*.log"), *images_folder.glob("compose/*.log"), *images_folder.glob("kubernetes/*/*.log")]):
            print(f"-- {log.name}\n{log.read_text()[-1500:]}")
        raise
    finally:
        for container in list(Container.running):
            run("runc", "kill", container.name, "KILL", code=None)
            container.process.wait(10)
        images.close()


if __name__ == "__main__":
    if "--docker" in sys.argv:
        docker(pathlib.Path(sys.argv[2]), sys.argv[3:])
    else:
        main(pathlib.Path(sys.argv[1]).resolve())
