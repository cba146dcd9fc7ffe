import CFuzz
import Glibc

/// `fuzz --list`: the names of the decoders. `fuzz NAME ARGUMENT…`: libFuzzer, with its own arguments.
///
/// SwiftPM gives an executable's main this name; so libFuzzer's own is not linked.
@_cdecl("fuzz_main")
func runFuzzer(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
  guard count >= 2, let name = arguments[1].map({ String(cString: $0) }), name != "--list" else {
    for decoder in FuzzedDecoder.all { print(decoder.name) }
    return count >= 2 ? 0 : 64
  }
  guard let decoder = FuzzedDecoder.all.first(where: { $0.name == name }) else {
    print("there is no decoder \(name)")
    return 64
  }
  Chosen.decoder = decoder
  // libFuzzer's arguments, the last that counts first: the name stands where its program's name is.
  var words = (0..<Int(count)).filter { $0 != 1 }.map { arguments[$0] }
  words.append(strdup("-max_len=\(decoder.longest)"))
  var rest = Int32(words.count)
  words.append(nil)
  return words.withUnsafeMutableBufferPointer { words in
    var first = words.baseAddress!
    return LLVMFuzzerRunDriver(&rest, &first) { bytes, count in
      Chosen.decoder?.take(UnsafeRawBufferPointer(start: bytes, count: count))
      return 0
    }
  }
}

/// libFuzzer's callback carries no context.
private enum Chosen {
  // One thread, set before it begins.
  nonisolated(unsafe) static var decoder: FuzzedDecoder?
}
