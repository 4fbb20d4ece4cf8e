import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

/// The ways to catch one kind of failure. That each compiles is half of the test: `.ci/check-readme` compiles the ways
/// in Docs/Recipes.md at the top level of a program; these are within functions.
///
/// Swift 6.3 crashes for a typed error whose last `catch` has a condition, in a function that throws errors of another
/// type or any error, if the `do` is in a loop or other values must be released. A last `catch` for the rest,
/// `throws(SessionError)`, or `do throws(any Error)` avoids it.
@Suite(.timeLimit(.minutes(1)))
struct CatchIdiomTests {
    /// Calls a function with a session that only receives the status 404.
    private func failing<Result>(
        _ use: (HTTPSession) async throws(SessionError) -> Result
    ) async throws(SessionError) -> Result {
        let api = try HTTPSession(
            baseURL: URL(string: "http://example.com"), transport: StubTransport { _ in .status(.notFound) })
        do {
            let result = try await use(api)
            await api.shutdown(.immediate)
            return result
        } catch {
            await api.shutdown(.immediate)
            throw error
        }
    }

    @Test func errorsAreTyped() async throws {
        func code(_ api: HTTPSession) async -> SessionError.Code {
            do {
                _ = try await api.get("x").text()
                return .cancelled
            } catch {
                return error.code
            }
        }
        #expect(try await failing(code) == .unacceptableStatus)
    }

    @Test func codesAreCasesOfASwitch() async throws {
        func word(_ api: HTTPSession) async throws(SessionError) -> String {
            do {
                return try await api.get("x").text()
            } catch {
                switch error.code {
                case .cancelled: return "cancelled"
                case .unacceptableStatus where error.head?.status == .notFound: return "not found"
                default: throw error
                }
            }
        }
        #expect(try await failing(word) == "not found")
    }

    @Test func codesAreComparedWithIf() async throws {
        func load(_ api: HTTPSession) async throws(SessionError) {
            do {
                _ = try await api.get("x").text()
            } catch {
                if error.code != .cancelled { throw error }
            }
        }
        let error = await #expect(throws: SessionError.self) { try await failing(load) }
        #expect(error?.code == .unacceptableStatus)
    }

    // The formatter would write two spaces before `where`.
    // swift-format-ignore
    @Test func clausesHaveConditions() async throws {
        func word(_ api: HTTPSession) async throws(SessionError) -> String {
            do {
                return try await api.get("x").text()
            } catch where error.code == .cancelled {
                return "cancelled"
            } catch where error.head?.status == .notFound {
                return "not found"
            } catch {
                throw error
            }
        }
        #expect(try await failing(word) == "not found")
    }

    // The formatter would write two spaces before `where`.
    // swift-format-ignore
    @Test func oneConditionCanStandAlone() async throws {
        func load(_ api: HTTPSession) async throws(SessionError) {
            do { _ = try await api.get("x").text() } catch where error.code == .cancelled {}
        }
        let error = await #expect(throws: SessionError.self) { try await failing(load) }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test func errorsAreCastWhereTheyAreNotTyped() async throws {
        func load(_ api: HTTPSession) async throws -> String {
            try Task.checkCancellation()
            return try await api.get("x").text()
        }
        func word(_ api: HTTPSession) async -> String {
            do {
                return try await load(api)
            } catch let error as SessionError where error.code == .unacceptableStatus {
                return "unacceptable"
            } catch {
                return "\(error)"
            }
        }
        #expect(try await failing(word) == "unacceptable")
    }

    /// A closure does not infer the type of the errors in it: its `do` names the type.
    @Test func closuresNameTheTypeOfTheirErrors() async throws {
        let load: @Sendable (HTTPSession) async -> String = { api in
            do throws(SessionError) {
                return try await api.get("x").text()
            } catch {
                return error.code == .unacceptableStatus ? "unacceptable" : error.message
            }
        }
        #expect(try await failing(load) == "unacceptable")
    }

    // MARK: Loops

    // The formatter would write two spaces before `where`.
    // swift-format-ignore
    @Test func aLoopRepeatsAfterOneKindOfFailure() async throws {
        func load(_ api: HTTPSession, _ attempts: inout Int) async throws -> String {
            let label = "attempt \(attempts)"
            for _ in 0..<3 {
                do {
                    attempts += 1
                    return try await api.get("x").text() + label
                } catch where error.code == .unacceptableStatus {
                    continue
                } catch {
                    throw error
                }
            }
            return "none"
        }
        var attempts = 0
        #expect(try await failing { api throws(SessionError) in (try? await load(api, &attempts)) ?? "" } == "none")
        #expect(attempts == 3)
    }

    // The formatter would write two spaces before `where`.
    // swift-format-ignore
    @Test func aLoopOfTypedErrorsNeedsNoLastClause() async throws {
        func load(_ api: HTTPSession, _ attempts: inout Int) async throws(SessionError) -> String {
            while attempts < 3 {
                do {
                    attempts += 1
                    return try await api.get("x").text()
                } catch where error.code == .unacceptableStatus {}
            }
            return "none"
        }
        var attempts = 0
        #expect(try await failing { api throws(SessionError) in try await load(api, &attempts) } == "none")
        #expect(attempts == 3)
    }

    @Test func aLoopOfAnyErrorsCastsThem() async throws {
        func load(_ api: HTTPSession, _ attempts: inout Int) async throws -> String {
            let label = "attempt \(attempts)"
            for _ in 0..<3 {
                do throws(any Error) {
                    attempts += 1
                    return try await api.get("x").text() + label
                } catch let error as SessionError where error.code == .unacceptableStatus {
                    continue
                }
            }
            return "none"
        }
        var attempts = 0
        #expect(try await failing { api throws(SessionError) in (try? await load(api, &attempts)) ?? "" } == "none")
        #expect(attempts == 3)
    }
}
