import Testing

/// Runs a closure in the scope of a trait, as the testing library runs a test with it.
func run(_ trait: some Trait, _ body: @concurrent @Sendable () async throws -> Void) async throws {
    let test = try #require(Test.current)
    let scoping = try #require(trait as? any TestScoping)
    try await scoping.provideScope(for: test, testCase: nil, performing: body)
}

/// Requires that a closure records one issue, and that its text is this one.
func expectIssue(
    _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: @concurrent @Sendable () async throws -> Void
) async throws {
    try await withKnownIssue(sourceLocation: sourceLocation) {
        try await body()
    } matching: { issue in
        issue.comments.map(\.rawValue) == [text]
    }
}

/// The failure of a closure that is a test.
struct Failure: Error {}
