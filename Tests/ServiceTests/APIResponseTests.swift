import Testing
import Wire

@testable import Service

@Suite("API responses")
struct APIResponseTests {
  @Test("JSON: keys are sorted and slashes stay as they are")
  func json() {
    let body = APIResponse.json(["b": "/x", "a": "1"]).body
    #expect(String(decoding: body, as: UTF8.self) == #"{"a":"1","b":"/x"}"#)
  }

  @Test("JSON: a number that is none is null, and does not end the program")
  func noNumbers() {
    let body = encodeJSON(["a": [1, .infinity, -.infinity, .nan, 0.5]])
    #expect(String(decoding: body, as: UTF8.self) == #"{"a":[1,null,null,null,0.5]}"#)
    #expect(JSONValue.decimal(.nan) == .null && JSONValue.decimal(1e300).bytes == Array("1e+300".utf8))
  }
}
