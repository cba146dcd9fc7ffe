"""An authority and the certificates that it signs, made by the command openssl as docs/service.md has it."""
import subprocess


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Certificate:
    """`file` has the certificate and those that lead to the authority, `key` its key."""

    def __init__(self, folder, label):
        self.file, self.key, self.alone = (folder / f"{label}.{end}" for end in ("crt", "key", "alone.crt"))
        openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self.key)

    @property
    def files(self):
        return str(self.file), str(self.key)


class Authority(Certificate):
    def __init__(self, folder, label, above=None):
        super().__init__(folder, label)
        self.folder = folder
        self.above = above
        self.serial = 0
        extension = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n"
        if above:
            above.sign(self, f"/CN={label}", extension)
        else:
            openssl("req", "-x509", "-new", "-key", self.key, "-subj", f"/CN={label}", "-days", "30", "-out", self.file,
                    "-addext", "keyUsage=critical,keyCertSign,cRLSign")
            self.alone.write_bytes(self.file.read_bytes())

    def client(self, label, subject=None, names=None, usage="clientAuth", start=None, end=None):
        """A client's certificate: `names` are its alternative names, `start` and `end` times such as 20200101000000Z."""
        made = Certificate(self.folder, label)
        extension = f"basicConstraints=critical,CA:FALSE\nextendedKeyUsage={usage}\n"
        if names:
            extension += f"subjectAltName={names}\n"
        self.sign(made, f"/CN={label}" if subject is None else subject, extension, start, end)
        return made

    def sign(self, made, subject, extension, start=None, end=None):
        request, extensions = made.file.with_suffix(".csr"), made.file.with_suffix(".ext")
        openssl("req", "-new", "-key", made.key, "-subj", subject, "-out", request)
        extensions.write_text(extension)
        base = self.folder / f"{self.file.stem}-ca"
        if not base.exists():
            base.mkdir()
            (base / "index").write_text("")
            (base / "index.attr").write_text("unique_subject = no\n")
            (base / "conf").write_text(
                "[ca]\ndefault_ca = it\n[it]\n"
                f"dir = {base}\nnew_certs_dir = {base}\ndatabase = {base}/index\nrand_serial = yes\ndefault_md = sha256\n"
                "default_days = 30\npolicy = any\n[any]\ncommonName = optional\norganizationName = optional\n")
        dates = (["-startdate", start] if start else []) + (["-enddate", end] if end else [])
        openssl("ca", "-batch", "-notext", "-config", base / "conf", "-cert", self.alone, "-keyfile", self.key, "-in", request,
                "-extfile", extensions, "-out", made.alone, *dates)
        made.file.write_bytes(made.alone.read_bytes() + (self.file.read_bytes() if self.above else b""))
