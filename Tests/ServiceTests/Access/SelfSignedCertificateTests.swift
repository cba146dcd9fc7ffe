import Foundation
import TestSupport
import Testing

@testable import Service

private let now: Int64 = 1_800_000_000

/// What `openssl` says to some arguments, both streams.
private func openssl(_ arguments: [String]) throws -> (said: String, status: Int32) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/openssl")
  process.arguments = arguments
  let output = Pipe()
  process.standardOutput = output
  process.standardError = output
  process.standardInput = FileHandle.nullDevice
  try process.run()
  let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  return (String(decoding: bytes, as: UTF8.self), process.terminationStatus)
}

@Suite("self-signed certificate", .ownThread)
struct SelfSignedCertificateTests {
  private let folder: AccessFolder

  init() throws { folder = try AccessFolder() }

  private func load(
    _ names: [String] = ["pi.local", "192.168.1.7"], now: Int64 = now, isClockSynchronised: Bool = true
  ) throws -> SelfSignedCertificate {
    try SelfSignedCertificate.load(
      orMakeIn: folder.path + "/tls", names: names, now: now, isClockSynchronised: isClockSynchronised)
  }

  @Test("first use: two files, the key for its owner only, a fingerprint of 32 bytes; next use: the same")
  func firstUse() throws {
    let made = try load()
    #expect(made.fingerprintSHA256.wholeMatch(of: /([0-9A-F]{2}:){31}[0-9A-F]{2}/) != nil)
    #expect(try folder.mode("tls/tls.key") == 0o600)
    #expect(try folder.mode("tls") == 0o700)
    #expect(try load(["other.local"], now: now + 1) == made)
  }

  @Test("made anew: in the second it ends, when its key is another's, when a file is damaged or gone")
  func madeAnew() throws {
    var last = try load()
    func expectAnother(now: Int64 = now) throws {
      let next = try load(now: now)
      #expect(next.fingerprintSHA256 != last.fingerprintSHA256)
      last = next
    }
    let end = now + SelfSignedCertificate.lifetime
    #expect(try load(now: end - 1) == last)
    try expectAnother(now: end)
    let key = try Data(contentsOf: URL(filePath: last.key))
    try expectAnother(now: end + SelfSignedCertificate.lifetime)
    try key.write(to: URL(filePath: last.key))
    try expectAnother()
    try Data("damaged".utf8).write(to: URL(filePath: last.certificate))
    try expectAnother()
    try FileManager.default.removeItem(atPath: last.key)
    try expectAnother()
  }

  @Test("a clock that nothing keeps: no certificate has ended by it, and a new one is valid whatever it says")
  func wrongClock() throws {
    let made = try load(now: 100_000, isClockSynchronised: false)
    #expect(try load(now: now + 20 * SelfSignedCertificate.lifetime, isClockSynchronised: false) == made)
    // The right time, once the clock is kept.
    #expect(try load(now: SelfSignedCertificate.earliest + 86_400) == made)
    try FileManager.default.removeItem(atPath: made.key)
    let ahead = try load(now: now + SelfSignedCertificate.lifetime, isClockSynchronised: false)
    let dates = try openssl(["x509", "-in", ahead.certificate, "-noout", "-dates"]).said
    #expect(dates.contains("notBefore=Oct 31 23:00:00 2026") || dates.contains("notBefore=Nov  1"), "\(dates)")
  }

  @Test("names: text that would be something else in a configuration is a name or nothing")
  func names() throws {
    _ = try load(["a,DNS:evil.example.com"])
    _ = try SelfSignedCertificate.load(
      orMakeIn: folder.path + "/long", names: [String(repeating: "n", count: 200)], now: now)
    #expect(throws: SelfSignedCertificateError.self) {
      try SelfSignedCertificate.load(orMakeIn: "/proc/nowhere", names: ["pi"], now: now)
    }
  }

  @Test(
    "openssl: reads, verifies and matches it: names, dates, use, fingerprint",
    .enabled(if: access("/usr/bin/openssl", X_OK) == 0, "the command openssl is not installed"))
  func command() throws {
    let made = try load(["pi.local", "localhost", "192.168.1.7", "fe80::1"])
    let text = try openssl(["x509", "-in", made.certificate, "-noout", "-text", "-fingerprint", "-sha256"]).said
    #expect(
      text.contains("DNS:pi.local, DNS:localhost, IP Address:192.168.1.7, IP Address:FE80:0:0:0:0:0:0:1"), "\(text)")
    #expect(text.contains("CA:FALSE") && text.contains("TLS Web Server Authentication"))
    #expect(text.contains("Digital Signature") && text.contains("prime256v1") && text.contains("Version: 3"))
    #expect(
      text.contains("Not Before: Jan 15 07:00:00 2027 GMT") && text.contains("Not After : Jan 12 08:00:00 2037 GMT"))
    #expect(text.contains("Fingerprint=\(made.fingerprintSHA256)"))
    let verdict = try openssl([
      "verify", "-attime", "\(now)", "-purpose", "sslserver", "-verify_hostname", "pi.local", "-CAfile",
      made.certificate,
      made.certificate,
    ])
    #expect(verdict.status == 0, "\(verdict.said)")
    #expect(try openssl(["pkey", "-in", made.key, "-noout", "-check"]).said.contains("valid"))
  }

  @Test(
    "openssl: a name with a comma stays one name",
    .enabled(if: access("/usr/bin/openssl", X_OK) == 0, "the command openssl is not installed"))
  func comma() throws {
    let made = try load(["a,IP:1.2.3.4"])
    let text = try openssl(["x509", "-in", made.certificate, "-noout", "-text"]).said
    #expect(!text.contains("IP Address:"))
  }
}
