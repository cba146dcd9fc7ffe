import Testing

/// The tests' program. With an entry point of its own the build has no need to look for tests of XCTest in an index of all
/// sources, and writes none: a quarter of the time that it took (`scripts/swift`).
@main
struct Tests {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
