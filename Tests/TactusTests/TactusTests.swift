import Testing
@testable import Tactus
