import Testing

@testable import Service

@Suite("API responses")
struct APIResponseTests {
  @Test("JSON: keys are sorted and slashes stay as they are")
  func json() {
    let body = APIResponse.json(["b": "/x", "a": "1"]).body
    #expect(String(decoding: body, as: UTF8.self) == #"{"a":"1","b":"/x"}"#)
  }
}
