import Glibc
import Testing

/// The tests' program. With an entry point of its own the build has no need to look for tests of XCTest in an index of all sources,
/// and writes none (`scripts/swift`). `swift test` runs all tests with it; those of a name `scripts/swift test --filter NAME`.
@main
struct Tests {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    // `swift test --filter` asks this program which tests of XCTest it has. There are none, and so it asks to run none of them.
    if arguments.contains("--dump-tests-json") { return print(#"{"name":"All tests","tests":[]}"#) }
    guard !arguments.contains("''") else {
      print("No test was run: scripts/swift test --filter NAME runs those of a name.")
      exit(EXIT_FAILURE)
    }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
