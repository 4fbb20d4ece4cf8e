"""The packages that a release depends on, with their licences, as a document of SPDX 2.3."""

import json
import pathlib
import re
import subprocess

# What a program that links Linnet may be obliged to: attribution, and no more.
ALLOWED = {"Apache-2.0", "Apache-2.0 WITH Swift-exception", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "Zlib"}
APACHE = re.compile(r"Apache License\s+Version 2\.0, January 2004")
MIT = re.compile(r"Permission is hereby granted, free of charge, to any person obtaining a copy")
ISC = re.compile(r"Permission to use, copy, modify, and(?:/or)? distribute this software for any purpose")
BSD = re.compile(r"Redistributions in binary form must reproduce the above copyright notice")
ZLIB = re.compile(r"This software is provided 'as-is', without any express or implied warranty")


def licence(text):
    """The SPDX identifier of a licence's text, or None. The wording of each licence is fixed but for names and line ends."""
    text = re.sub(r"\s+", " ", text)
    found = []
    if APACHE.search(text):
        found.append("Apache-2.0 WITH Swift-exception" if "Runtime Library Exception" in text else "Apache-2.0")
    if MIT.search(text):
        found.append("MIT")
    if ISC.search(text):
        found.append("ISC")
    if BSD.search(text):
        found.append("BSD-3-Clause" if "Neither the name" in text else "BSD-2-Clause")
    if ZLIB.search(text):
        found.append("Zlib")
    return found[0] if len(found) == 1 else None


class Package:
    """A pinned package, with the licence of its checkout. `problem` says what is wrong with it."""

    def __init__(self, pin, checkouts):
        state = pin["state"]
        self.identity, self.location = pin["identity"], pin["location"]
        self.version, self.revision = state.get("version"), state["revision"]
        self.licence = self.problem = None
        # The folder has the name of the repository, whose capitals the identity lacks.
        folder = checkouts / self.location.removesuffix("/").removesuffix(".git").rpartition("/")[2]
        if not folder.is_dir():
            self.problem = "has no checkout; run `swift package resolve` with LINNET_TRAITS=all"
            return
        present = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True).stdout.strip()
        files = sorted(each for each in folder.iterdir() if re.match(r"(?i)licen[cs]e|copying", each.name))
        if self.version is None:
            self.problem = "is pinned to a branch or a revision, and to no version"
        elif present != self.revision:
            self.problem = f"is pinned to {self.revision}, and its checkout is {present or 'no repository'}"
        elif not files:
            self.problem = "has no file with a licence"
        else:
            self.licence = licence(files[0].read_text(errors="replace"))
            if self.licence is None:
                self.problem = f"has a licence that is not recognized: {files[0].name}"
            elif self.licence not in ALLOWED:
                self.problem = f"has the licence {self.licence}, which is not among the allowed ones"

    @property
    def spdx(self):
        path = re.sub(r"^https?://|\.git$", "", self.location)
        return {
            "name": self.identity, "SPDXID": spdx_id(self.identity), "versionInfo": self.version,
            "downloadLocation": f"git+{self.location}@{self.revision}", "filesAnalyzed": False,
            "licenseConcluded": self.licence, "licenseDeclared": self.licence, "copyrightText": "NOASSERTION",
            "externalRefs": [{
                "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                "referenceLocator": f"pkg:swift/{path}@{self.version}"}],
        }


def spdx_id(identity):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", identity)


def packages(root):
    """The packages of Package.resolved."""
    pins = json.loads((root / "Package.resolved").read_text())["pins"]
    return [Package(pin, root / ".build" / "checkouts") for pin in pins]


def edges(tree, name=None):
    """Yields the pairs of a package and one that it depends on, from `swift package show-dependencies`."""
    for child in tree["dependencies"]:
        yield name or tree["identity"], child["identity"]
        yield from edges(child)


def document(version, revision, date, found, tree):
    """The document of a release. It has the time of the commit, so that it is the same each time that it is written."""
    ours = {
        "name": "linnet", "SPDXID": spdx_id("linnet"), "versionInfo": version, "downloadLocation": "NOASSERTION",
        "sourceInfo": f"commit {revision}", "filesAnalyzed": False, "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", spdx_id("linnet"))]
    # The root's identity is the name of its folder.
    relations += sorted({(spdx_id(a), "DEPENDS_ON", spdx_id(b)) for a, b in edges(tree, "linnet")})
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"linnet-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/linnet-{version}-{revision}",
        "creationInfo": {"created": date, "creators": ["Tool: linnet-check-release"]},
        "comment": "The packages of all traits. The system's libraries, such as OpenSSL and zlib, are not part of a release: a "
        "program links the ones of its distribution.",
        "packages": [ours] + [package.spdx for package in found],
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations],
    }


def document_problems(text):
    """Yields the relationships of a document that lead nowhere, and the packages that nothing leads to."""
    names = {package["SPDXID"] for package in text["packages"]}
    ends = {end for each in text["relationships"] for end in (each["spdxElementId"], each["relatedSpdxElement"])}
    yield from (f"{name} is in no package of Package.resolved" for name in sorted(ends - names - {"SPDXRef-DOCUMENT"}))
    yield from (f"{name} is in Package.resolved, and nothing depends on it" for name in sorted(names - ends))
