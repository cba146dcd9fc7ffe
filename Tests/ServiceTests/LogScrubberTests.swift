import Logging
import Tactus
import TestSupport
import Testing
import Wire

@testable import Service

@Suite("log scrubber", .ownThread)
struct LogScrubberTests {
  @Test(
    "a secret in any of its shapes: gone, and the rest stands",
    arguments: [
      ("Authorization: Bearer abc.DEF-123", "Authorization: [scrubbed]"),
      ("authorization: Basic dXNlcjpwYXNzd29yZA==\nnext line", "authorization: [scrubbed]\nnext line"),
      ("sent bearer AbCdEf0123456789 to it", "sent bearer [scrubbed] to it"),
      ("protocols events.v1, bearer.AbCdEf0123456789", "protocols events.v1, bearer.[scrubbed]"),
      ("GET /ws?token=abcdef&x=1 HTTP/1.1", "GET /ws?token=[scrubbed]&x=1 HTTP/1.1"),
      ("/a?x%3D1%26access_token%3Dabcdef", "/a?x%3D1%26access_token%3D[scrubbed]"),
      ("/a?apiKey=abc&b=2", "/a?apiKey=[scrubbed]&b=2"),
      (#"{"mqttPassword": "a b,c", "port": 1883}"#, #"{"mqttPassword": "[scrubbed]", "port": 1883}"#),
      (#"{"pinToken":1234,"a":2}"#, #"{"pinToken":"[scrubbed]","a":2}"#),
      (#"{"token":["a","b]"],"b":[1]}"#, #"{"token":"[scrubbed]","b":[1]}"#),
      (#"{"credentials": {"user": "a", "more": {"b": "}"}}, "c": 1}"#, #"{"credentials": "[scrubbed]", "c": 1}"#),
      (#"{\"secret\": 5}"#, #"{\"secret\": \"[scrubbed]\"}"#),
      (#"{\"token\": [\"a\"], \"b\": 1}"#, #"{\"token\": \"[scrubbed]\", \"b\": 1}"#),
      (#"{"token": [5"#, #"{"token": "[scrubbed]""#),
      ("token=true-or-not", "token=[scrubbed]"), ("password: truely", "password: [scrubbed]"),
      ("password='two words' user=me", "password='[scrubbed]' user=me"),
      ("secret: hunter2", "secret: [scrubbed]"),
      ("token tactus_7fK2_abcdefghij.klm created", "token [scrubbed] created"),
      ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl end", "jwt [scrubbed] end"),
      ("xeyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0", "x[scrubbed]"),
    ])
  func shapes(text: String, expected: String) {
    #expect(LogScrubber().scrub(text) == expected)
  }

  @Test(
    "prose about tokens and keys: stays",
    arguments: [
      #"{"asksPassword":true,"cause":null}"#, #"{"hasToken": false, "token":null}"#, "password: null",
      "asks_password=true",
      "a bearer token is needed", "motors.key: expected a number", "tokenId=7fK2", "the token", "token=", "key", "",
      "tactus_top", "Grüße, 🤖", "unknown token",
    ])
  func prose(text: String) {
    #expect(LogScrubber().scrub(text) == text)
  }

  @Test("JSON stays JSON, whatever its members of secret names are")
  func json() throws {
    for value in ["true", "null", "12", "-1.5e3", #""a""#, #"["a",{"b":"]"}]"#, #"{"a":["}"]}"#, "[]", "{}"] {
      let text = #"{"list":[{"mqttPassword":\#(value),"cause":"x"}],"token":\#(value)}"#
      let scrubbed = LogScrubber().scrub(text)
      #expect(JSONValue(json: Array(scrubbed.utf8))?["list"]?.items.first?["cause"] == "x", "\(scrubbed)")
    }
  }

  @Test("metadata: by its name or by its text, nested too; numbers stay numbers")
  func metadata() {
    let scrubbed = LogScrubber().scrub([
      "token": "x", "mqttPassword": ["a", "b"], "port": .stringConvertible(5005), "tokenId": "7fK2",
      "request": ["header": "Bearer 0123456789"], "list": ["/?key=abc"],
    ])
    #expect(
      scrubbed == [
        "token": "[scrubbed]", "mqttPassword": "[scrubbed]", "port": .stringConvertible(5005), "tokenId": "7fK2",
        "request": ["header": "Bearer [scrubbed]"], "list": ["/?key=[scrubbed]"],
      ])
  }

  @Test("two keys that are secrets are one afterwards, and what is logged is logged")
  func secretKeys() {
    let scrubber = LogScrubber(secrets: ["correct horse", "battery staple"])
    let scrubbed = scrubber.scrub(["correct horse": "1", "battery staple": "1", "port": "2"])
    #expect(scrubbed == ["[scrubbed]": "1", "port": "2"])
  }

  @Test("a secret known by its text: gone wherever it stands; one too short to be one is ignored")
  func known() {
    let scrubber = LogScrubber(secrets: ["correct horse/battery", "short"])
    #expect(scrubber.scrub("xcorrect horse/batteryx short") == "x[scrubbed]x short")
  }

  @Test("fuzz: a secret planted in any shape among noise never survives")
  func planted() {
    let seed: UInt64 = 0x7AC7_0511
    var random = SplitMix64(seed: seed)
    func pick<T>(_ from: [T]) -> T { from[Int(random.below(UInt64(from.count)))] }
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    let noise = [
      "/", "?", "&", "=", "\"", "\\", ":", " ", "key", "token", "Bearer", "eyJ", ".", "tactus_", "ü", "%3D", "'",
    ]
    for round in 0..<20_000 {
      let secret = String((0..<24).map { _ in pick(letters) })
      let planted = pick([
        "Bearer \(secret)", "bearer.\(secret)", "Authorization: \(pick(["Basic", "Bearer", "Digest"])) \(secret)",
        "tactus_\(secret)", "eyJ\(secret).\(secret).\(secret)", "?token=\(secret)", "&access_token=\(secret)",
        "password=\(secret)", "\"password\":\"\(secret)\"", "key=\(secret)", "apiKey = '\(secret)'",
        "PASSWORD: \(secret)", "token%3d\(secret)", "\\\"secret\\\": \\\"\(secret)\\\"",
      ])
      let before = (0..<random.below(6)).map { _ in pick(noise) }.joined()
      let after = (0..<random.below(6)).map { _ in pick(noise) }.joined()
      let text = before + " " + planted + pick([" ", "\n", "\"", "&"]) + after
      #expect(!LogScrubber().scrub(text).contains(secret), "seed \(seed), round \(round): \(text)")
    }
  }

  /// Seconds, a minute on a loaded machine; with a pass that is quadratic hours.
  @Test("time is linear: 300 KB of what it looks for is done at once")
  func linear() {
    for piece in [
      "eyJ", "tactus_", "token=", "Bearer ", "eyJa.", "\"", "key", #""token":["#, #""token":{"a":"#, #""token":1"#,
    ] {
      let text = String(repeating: piece, count: 300_000 / piece.utf8.count)
      _ = LogScrubber(secrets: ["aaaaaaaab"]).scrub(text)
    }
  }
}
