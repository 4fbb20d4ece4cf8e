import Foundation  // localizedDescription
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct TestingErrorTests {
    @Test func anErrorIsDescribedByItsMessage() async throws {
        let error = try await withMockServer(.text("")) { server in
            #expect(throws: TestingError.self) { try server.url("no slash") }
        }
        #expect(error?.message == "\"no slash\" is not a valid path and query; it must begin with a slash.")
        #expect(error.map { "\($0)" } == error?.message)
        #expect(error?.localizedDescription == error?.message)
    }
}
