import CCrypto
import Foundation
import HTTPTypes
import Logging
import Synchronization
import Tactus
import Testing

@testable import Service

/// Certificates whose keys were thrown away, made by the command openssl as `Tests/Service/tls/certificates.py` has it. The
/// authority's is valid from 28 November 2026 to 2046, all others from 1 January 2026 to 1 January 2036.
private enum Shown {
  /// The authority.
  static let house = """
    -----BEGIN CERTIFICATE-----
    MIIBhTCCASugAwIBAgIUM1LGa7bmPc9DCRh1Gj0+3R6stXcwCgYIKoZIzj0EAwIw
    EDEOMAwGA1UEAwwFaG91c2UwHhcNMjYxMTI4MDkyOTQ2WhcNNDYxMTIzMDkyOTQ2
    WjAQMQ4wDAYDVQQDDAVob3VzZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHm9
    65X7oRdEC5UBBjmil7e63nfDvx581d7tM/sjS9pkTnK4Kf1G+MyvK24v/hurhKrZ
    2OkozEbLMdIU6sxfErGjYzBhMB0GA1UdDgQWBBTXEZHHQgJsAUeUqPVbU1K6FIBO
    9TAfBgNVHSMEGDAWgBTXEZHHQgJsAUeUqPVbU1K6FIBO9TAPBgNVHRMBAf8EBTAD
    AQH/MA4GA1UdDwEB/wQEAwIBBjAKBggqhkjOPQQDAgNIADBFAiEAok/NQQb8fn8c
    eFsLVeqE71BQL6gWoiSAQWGysVVmsMkCIHXDzXzZg1oQW2VHfSk+AcWVcxZavezt
    l3z6SZFTd0E/
    -----END CERTIFICATE-----
    """
  /// An authority that the first has signed.
  static let cellar = """
    -----BEGIN CERTIFICATE-----
    MIIBhjCCASygAwIBAgIUNilvlMxy0jjQW6x5KRJJRihbDGEwCgYIKoZIzj0EAwIw
    EDEOMAwGA1UEAwwFaG91c2UwHhcNMjYwMTAxMDAwMDAwWhcNMzYwMTAxMDAwMDAw
    WjARMQ8wDQYDVQQDDAZjZWxsYXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASz
    jKha4mmpxqoLyZHiLxNVoHkMyyU7P20aFXmLxB7kng1y2IXugizrFgZRfxrta67m
    edSivSgPog6UuxJ+h22jo2MwYTAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB/wQE
    AwIBBjAdBgNVHQ4EFgQUZh3GKbTejI+OCt5t5CDaxuZ4L6gwHwYDVR0jBBgwFoAU
    1xGRx0ICbAFHlKj1W1NSuhSATvUwCgYIKoZIzj0EAwIDSAAwRQIgP860hTHY4SEC
    TpA0NuP6SIrTrSptsM9gj9keCJtMQ8ACIQCDb9qTOqRca+O+ecK0BO+jS3FxLIi5
    udnQKcv6/6xGXA==
    -----END CERTIFICATE-----
    """
  /// The client `phone-anna`, signed by the authority.
  static let phone = """
    -----BEGIN CERTIFICATE-----
    MIIBjDCCATKgAwIBAgIUeaoVhvjjB7mT76HpWTUTrbbJ2D0wCgYIKoZIzj0EAwIw
    EDEOMAwGA1UEAwwFaG91c2UwHhcNMjYwMTAxMDAwMDAwWhcNMzYwMTAxMDAwMDAw
    WjAVMRMwEQYDVQQDDApwaG9uZS1hbm5hMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
    QgAEpgt1Pe4/j8AgPFvxc6StqxoFeRkY46VFEC6sp1WTo++nNr0MK4W0pMKmp2+d
    QUC/grUFFhX/HnvsijwzXz69BaNlMGMwDAYDVR0TAQH/BAIwADATBgNVHSUEDDAK
    BggrBgEFBQcDAjAdBgNVHQ4EFgQUumqSJvMe2w2c8Sfo3BRjCKQHHUAwHwYDVR0j
    BBgwFoAU1xGRx0ICbAFHlKj1W1NSuhSATvUwCgYIKoZIzj0EAwIDSAAwRQIgESt2
    AWNXFgXYF5EBaJN+i4Is3X3WNyMYTufAXMFzVm4CIQDQ5Krq8DvDTk+rJJpB/NTj
    I8J6mHPY4ukCTNR1NVZ7kg==
    -----END CERTIFICATE-----
    """
  /// The client `phone-below`, signed by the second authority.
  static let below = """
    -----BEGIN CERTIFICATE-----
    MIIBjzCCATSgAwIBAgIUcgATuR2yoCY0Nv+gTgRL+kv9XMEwCgYIKoZIzj0EAwIw
    ETEPMA0GA1UEAwwGY2VsbGFyMB4XDTI2MDEwMTAwMDAwMFoXDTM2MDEwMTAwMDAw
    MFowFjEUMBIGA1UEAwwLcGhvbmUtYmVsb3cwWTATBgcqhkjOPQIBBggqhkjOPQMB
    BwNCAAThmHGa3ggZgBCf3AV0T7Jc97BgmHx28NmXw95kqJmrUqNJ+XtBBxqQtmM5
    v9b7kQQbSMLyeVlAaczDFiTHNWC4o2UwYzAMBgNVHRMBAf8EAjAAMBMGA1UdJQQM
    MAoGCCsGAQUFBwMCMB0GA1UdDgQWBBTK0gyNQLLmdYw5FXUe9yr+oOaPajAfBgNV
    HSMEGDAWgBRmHcYptN6Mj44K3m3kINrG5ngvqDAKBggqhkjOPQQDAgNJADBGAiEA
    54DiYvbn/53TBUzVPuRzFgzdQHaN8eLVLdslP4Sr0gACIQD0M44KjMAdBBj1soJ9
    uEUzb2pFMgjqeaib4HixXt1GqQ==
    -----END CERTIFICATE-----
    """
  /// A client without a common name; its alternative names are an address and `bob@example.org`.
  static let mail = """
    -----BEGIN CERTIFICATE-----
    MIIBpzCCAU2gAwIBAgIUCYstivcLJtmNHopmooY0OCAdg5MwCgYIKoZIzj0EAwIw
    EDEOMAwGA1UEAwwFaG91c2UwHhcNMjYwMTAxMDAwMDAwWhcNMzYwMTAxMDAwMDAw
    WjAMMQowCAYDVQQKDAF4MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEwyKbuboX
    2GRWOhlES0aEPtFRWQNmLD/YuyIi7EEoQif4C9jbg/zbfbD1o8RC/CmMPdfIPgje
    wHQIDYnx+rj4mqOBiDCBhTAMBgNVHRMBAf8EAjAAMBMGA1UdJQQMMAoGCCsGAQUF
    BwMCMCAGA1UdEQQZMBeHBMAAAgGBD2JvYkBleGFtcGxlLm9yZzAdBgNVHQ4EFgQU
    cRyFOPrlOQF4mCuPrJT6lvdpR5UwHwYDVR0jBBgwFoAU1xGRx0ICbAFHlKj1W1NS
    uhSATvUwCgYIKoZIzj0EAwIDSAAwRQIgRexEMIE05xtLOrwNAbz+fIDr6b5CDDYq
    ItTVo+hSm6YCIQDJ4v3zdcPX3SDZMIobW70Mt6yAaztpjmWhQreJiEBYLw==
    -----END CERTIFICATE-----
    """

  /// Returns the DER bytes of a certificate.
  static func der(_ pem: String) -> [UInt8] {
    let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
    return Array(Data(base64Encoded: lines.joined())!)
  }

  static func chain(_ pem: String...) -> ClientCertificate { ClientCertificate(pem.map(der)) }
}

@Suite("Clients' certificates")
struct ClientCertificatesTests {
  /// The begin of the authority's own certificate, the last of the chain's.
  private static let begin: Int64 = 1_795_858_186
  private static let end: Int64 = 2_082_758_400
  private static let present: Int64 = 1_800_000_000
  private static let scopes = [
    ClientScope(pattern: "phone-lost", scope: nil), ClientScope(pattern: "phone-*", scope: .control),
    ClientScope(pattern: "*@example.org", scope: .read),
  ]

  private let certificates: ClientCertificates

  init() throws {
    let rules = try #require(ClientCertificates.Rules(authorities: Array(Shown.house.utf8), scopes: Self.scopes))
    certificates = ClientCertificates(rules, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private func grant(
    _ certificate: ClientCertificate, at seconds: Int64 = present
  ) -> Result<TokenGrant, CertificateRefusal> {
    certificates.grant(certificate, at: seconds, address: "192.168.1.7")
  }

  private func refusal(_ certificate: ClientCertificate, at seconds: Int64 = present) -> CertificateRefusal? {
    if case .failure(let refusal) = grant(certificate, at: seconds) { refusal } else { nil }
  }

  @Test(
    "signed by the authority: the name is the caller's, the first rule that fits gives the scope, the end is the certificate's"
  )
  func signed() {
    #expect(
      grant(Shown.chain(Shown.phone))
        == .success(TokenGrant(tokenID: "cert:phone-anna", scope: .control, expires: Self.end)))
    #expect(
      grant(Shown.chain(Shown.mail))
        == .success(TokenGrant(tokenID: "cert:bob@example.org", scope: .read, expires: Self.end)))
  }

  @Test("signed by an authority below: accepted with that one's certificate, refused without")
  func intermediate() {
    #expect((try? grant(Shown.chain(Shown.below, Shown.cellar)).get())?.tokenID == "cert:phone-below")
    guard case .untrusted? = refusal(Shown.chain(Shown.below)) else {
      Issue.record("not refused")
      return
    }
    guard case .untrusted? = refusal(Shown.chain(Shown.below, Shown.phone)) else {
      Issue.record("not refused")
      return
    }
  }

  @Test("the dates are looked at at each request of an open connection, not only at the first")
  func dates() {
    let one = Shown.chain(Shown.phone)
    #expect(refusal(one, at: Self.begin - 1) == .tooEarly(Self.begin))
    #expect(refusal(one, at: Self.begin) == nil)
    #expect(refusal(one, at: Self.end - 1) == nil)
    #expect(refusal(one, at: Self.end + 1) == .expired(Self.end))
    #expect(refusal(one, at: Self.present) == nil)
  }

  @Test("other rules and other authorities hold for a connection that is open")
  func changed() throws {
    let one = Shown.chain(Shown.phone)
    #expect(refusal(one) == nil)
    let none = try #require(ClientCertificates.Rules(authorities: Array(Shown.house.utf8), scopes: []))
    certificates.apply(none)
    #expect(refusal(one) == .withoutRule("phone-anna"))
    let lost = ClientScope(pattern: "*anna", scope: nil)
    certificates.apply(try #require(ClientCertificates.Rules(authorities: Array(Shown.house.utf8), scopes: [lost])))
    #expect(refusal(one) == .refusedByRule("phone-anna", pattern: "*anna"))
    // An authority that has not signed this one.
    let other = try #require(ClientCertificates.Rules(authorities: Array(Shown.cellar.utf8), scopes: Self.scopes))
    certificates.apply(other)
    guard case .untrusted? = refusal(one) else {
      Issue.record("not refused")
      return
    }
    // Every certificate of the file is trusted itself.
    #expect(refusal(Shown.chain(Shown.below)) == nil)
  }

  @Test("whatever bytes are shown: with one flipped or cut off, none of them comes in")
  func damaged() {
    let whole = Shown.der(Shown.phone)
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= 0x55
      #expect(refusal(ClientCertificate([bytes])) != nil, "byte \(index)")
      #expect(refusal(ClientCertificate([Array(whole[..<index])])) != nil, "cut at \(index)")
    }
    #expect(refusal(ClientCertificate([whole + [0]])) != nil)
    #expect(refusal(ClientCertificate([])) != nil)
    #expect(refusal(ClientCertificate([[]])) != nil)
  }

  @Test("a file of authorities without a certificate, with a damaged one or with too many is none")
  func files() {
    func isUsable(_ text: String) -> Bool {
      ClientCertificates.Rules(authorities: Array(text.utf8), scopes: []) != nil
    }
    #expect(isUsable(Shown.house) && isUsable("words\n" + Shown.house + "\n" + Shown.cellar))
    #expect(!isUsable("") && !isUsable("words"))
    #expect(!isUsable(Shown.house + "\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
    let many = String(repeating: Shown.house + "\n", count: 64)
    #expect(isUsable(many) && !isUsable(many + Shown.house))
  }

  @Test(
    "a rule's star stands for any characters",
    arguments: [
      ("desk", "desk", true), ("desk", "desk2", false), ("phone-*", "phone-", true), ("phone-*", "phone", false),
      ("*", "anything", true), ("*@b.org", "a@b.org", true), ("a*b*c", "abc", true), ("a*b*c", "axxbyyc", true),
      ("a*b*c", "acb", false), ("ab*ba", "aba", false), ("a**b", "ab", true), ("", "a", false), ("a.c", "abc", false),
    ])
  func patterns(_ pattern: String, _ name: String, _ fits: Bool) {
    #expect(ClientScope(pattern: pattern, scope: .read).fits(name) == fits)
  }

  @Test(
    "a name with characters that a log would hide or misread is none",
    arguments: [
      ("phone", true), ("Anna's phone", true), ("Jürgen", true), ("", false), (" a", false), ("a ", false),
      ("a\nb", false),
      ("a\u{0}b", false), ("a\u{202E}b", false), ("a\u{200B}b", false), ("a\u{A0}b", false), ("a\u{2028}b", false),
    ])
  func names(_ name: String, _ isUsable: Bool) { #expect(ClientCertificate.isUsable(name) == isUsable) }

  @Test(
    "the access control: a token goes before the certificate, which goes before nothing; what needs no token needs no certificate"
  )
  func accessControl() throws {
    struct NoTokens: TokenVerifier {
      func verify(_ token: String, now: Int64) -> Result<TokenGrant, TokenRefusal> {
        token == "admin" ? .success(TokenGrant(tokenID: "a", scope: .admin, expires: nil)) : .failure(.invalid)
      }
    }
    let accessControl = AccessControl(
      rules: try HostRules(machineName: "pi"), tokens: NoTokens(), certificates: certificates,
      seconds: { Self.present },
      now: { TickInstant(nanoseconds: 0) })
    func code(_ certificate: ClientCertificate?, token: String? = nil, scope: Scope? = .read) -> String {
      var request = HTTPRequest(method: .get, scheme: "https", authority: "pi", path: "/api/status")
      if let token { request.headerFields[.authorization] = "Bearer \(token)" }
      do throws(APIError) {
        let caller = try accessControl.admit(request, peer: "192.168.1.7", certificate: certificate, scope: scope)
        return caller.isKnown ? caller.logName : "nobody"
      } catch {
        return "\(error.status.code) \(error.code)"
      }
    }
    let (phone, stranger) = (Shown.chain(Shown.phone), Shown.chain(Shown.below))
    #expect(code(phone) == "cert:phone-anna@192.168.1.7")
    #expect(code(phone, scope: .admin) == "403 SCOPE_DENIED")
    #expect(code(phone, token: "admin", scope: .admin) == "a@192.168.1.7")
    #expect(code(phone, token: "wrong") == "401 TOKEN_INVALID")
    #expect(code(stranger) == "403 CERTIFICATE_UNTRUSTED")
    #expect(code(stranger, token: "admin") == "a@192.168.1.7")
    #expect(code(stranger, scope: nil) == "nobody")
    #expect(code(nil) == "401 TOKEN_MISSING")
  }
}
