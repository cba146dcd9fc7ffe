import Testing
@testable import BusesLinux
