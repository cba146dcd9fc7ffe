import Testing

@testable import Service

@Suite("Request targets")
struct RequestTargetTests {
  @Test("a path is split before it is decoded")
  func decoded() throws {
    let target = try RequestTarget("/api/sim/bus/i2c%201?since=4&x=a%26b&x=c+d")
    #expect(target.segments == ["api", "sim", "bus", "i2c 1"])
    #expect(target.query == ["since": "4", "x": "c d"])
    #expect(try RequestTarget("/").segments == [])
  }

  @Test(
    "traversal, encoded slashes, broken escapes and bytes that are no UTF-8 are refused",
    arguments: [
      "/../etc/passwd", "/api/%2e%2e/x", "/api/%2E./x", "/a%2fb", "/a%2F%CC%81b", "/a%5Cb", "/a%00", "/%zz", "/%4",
      "/%", "/%ff",
      "/%c3%28", "api", "", "http://elsewhere/",
    ])
  func refused(target: String) {
    #expect { try RequestTarget(target) } throws: { ($0 as? APIError)?.code == "BAD_PATH" }
  }

  @Test("a query: broken escapes are refused", arguments: ["/?a=%", "/?%ff", "/?a=%c3%28"])
  func query(target: String) {
    #expect { try RequestTarget(target) } throws: { ($0 as? APIError)?.code == "BAD_QUERY" }
  }

  @Test("what is taken apart for everyone is bounded: 2,048 bytes, 32 parameters")
  func bounds() throws {
    let pairs = Array(repeating: "a=b", count: RequestTarget.mostPairs).joined(separator: "&")
    #expect(try RequestTarget("/api/health?\(pairs)").query == ["a": "b"])
    #expect { try RequestTarget("/api/health?\(pairs)&a=b") } throws: { ($0 as? APIError)?.code == "BAD_QUERY" }
    let longest = "/" + String(repeating: "x", count: RequestTarget.longest - 1)
    #expect(try RequestTarget(longest).segments.count == 1)
    #expect { try RequestTarget(longest + "x") } throws: { ($0 as? APIError)?.code == "URI_TOO_LONG" }
  }

  @Test(
    "a token in a query is refused and not repeated",
    arguments: ["/api/status?token=secret", "/x?a=1&ACCESS_TOKEN=secret", "/x?%74oken=secret"])
  func token(target: String) {
    #expect { try RequestTarget(target) } throws: { error in
      let error = error as? APIError
      return error?.code == "TOKEN_IN_QUERY" && error?.message.contains("secret") == false
    }
  }
}
