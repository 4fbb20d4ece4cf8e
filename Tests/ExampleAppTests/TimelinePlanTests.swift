import ExampleSupport
import Linnet
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct TimelinePlanTests {
    private static let pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(arguments: [
        (["--url", "ftp://example.com"], "--url"),
        (["--url", "example.com"], "--url"),
        (["--url", "https://"], "--url"),
        (["--pin", "sha256/AAAA"], "--pin \"sha256/AAAA\" is not a pin"),
        (["--pin", pin, "--insecure-no-pin"], "contradict"),
        (["--pin", pin, "--url", "http://example.com"], "--pin needs https"),
        (["--page-size", "0"], "--page-size"),
        (["--json", "--serve"], "exclude each other"),
        (["--slow", "--url", "https://example.com"], "embedded server"),
    ])
    func invalidCommandLinesAreRefused(arguments: [String], part: String) throws {
        let error = #expect(throws: UsageError.self) { try TimelinePlan(arguments: arguments) }
        let line = ErrorLine(try #require(error))
        #expect(line.exitCode == 64)
        #expect(line.text.contains(part))
        #expect(!line.text.contains("\n"))
    }

    @Test func withoutAURLTheEmbeddedServerIsUsed() throws {
        #expect(try TimelinePlan(arguments: []).source == .embedded)
    }

    @Test(arguments: [
        ([], TimelinePlan.Output.screen), (["--once"], .text), (["--json"], .json), (["--serve"], .page),
    ])
    func theOptionsChooseTheOutput(arguments: [String], output: TimelinePlan.Output) throws {
        #expect(try TimelinePlan(arguments: arguments).output == output)
    }

    @Test func theEmbeddedServerMisbehavesOnRequest() throws {
        #expect(try TimelinePlan(arguments: []).misbehavior.isEmpty)
        let plan = try TimelinePlan(arguments: ["--offline", "--slow", "--flaky", "--bad-pin"])
        #expect(plan.misbehavior == [.offline, .slow, .flaky, .badPin])
    }

    @Test func theEmbeddedServersPinAppliesUnlessAnotherIsGiven() throws {
        let own = try PublicKeyPin("sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys=")
        #expect(try TimelinePlan(arguments: []).policy(anchors: .system, otherwise: [own]).isPinning)
        #expect(try !TimelinePlan(arguments: []).policy(anchors: .system).isPinning)
        #expect(try TimelinePlan(arguments: ["--pin", Self.pin]).policy(anchors: .system).isPinning)
        #expect(
            try !TimelinePlan(arguments: ["--insecure-no-pin"]).policy(anchors: .system, otherwise: [own]).isPinning)
    }
}
