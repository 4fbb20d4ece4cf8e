import ArgumentParser
import Linnet
import Testing

@testable import ExampleApp

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct TimelineOptionsTests {
    private static let pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(arguments: [
        (["--url", "ftp://example.com"], "--url"),
        (["--url", "example.com"], "--url"),
        (["--url", "https://"], "--url"),
        (["--pin", "sha256/AAAA"], "is not a pin"),
        (["--page-size", "0"], "--page-size"),
        (["--json", "--serve"], "--json"),
        (["--slow", "--url", "https://example.com"], "embedded server"),
    ])
    func invalidCommandLinesAreRefused(arguments: [String], part: String) throws {
        let error = try #require(#expect(throws: (any Error).self) { try ExampleApp.parse(arguments) })
        #expect(ExampleApp.exitCode(for: error) == .validationFailure)
        #expect(ExampleApp.message(for: error).contains(part))
    }

    @Test(arguments: [([], nil), (["--once"], ExampleApp.Output.once), (["--json"], .json), (["--serve"], .serve)])
    func theOptionsChooseTheOutput(arguments: [String], output: ExampleApp.Output?) throws {
        #expect(try ExampleApp.parse(arguments).output == output)
        #expect(try ExampleApp.parse(arguments).options.url == nil)
    }

    @Test func theEmbeddedServerMisbehavesOnRequest() throws {
        #expect(try TimelineOptions.parse([]).misbehavior.isEmpty)
        let options = try TimelineOptions.parse(["--offline", "--slow", "--flaky", "--bad-pin"])
        #expect(options.misbehavior == [.offline, .slow, .flaky, .badPin])
    }

    @Test func chaosHasOneFaultAfterAnother() {
        let faults = [1, 6, 11, 16, 21].map { Misbehavior.active(of: [.chaos], after: .seconds($0)) }
        #expect(faults == [[], [.slow], [.flaky], [.offline], []])
        #expect(Misbehavior.active(of: [.badPin, .slow], after: .seconds(11)) == [.badPin, .slow])
    }

    @Test func theEmbeddedServersPinAppliesUnlessAnotherIsGiven() throws {
        let own = try PublicKeyPin("sha256/Vjs8r4z+80wjNcr1YKepWQboSIRi63WsWXhIMN+eWys=")
        #expect(try TimelineOptions.parse([]).policy(anchors: .system, otherwise: [own]).isPinning)
        #expect(try !TimelineOptions.parse([]).policy(anchors: .system).isPinning)
        #expect(try TimelineOptions.parse(["--pin", Self.pin]).policy(anchors: .system).isPinning)
        #expect(try TimelineOptions.parse(["--pin", Self.pin]).pins == [PublicKeyPin(Self.pin)])
    }
}
