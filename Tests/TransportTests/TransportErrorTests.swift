import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Transport errors", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct TransportErrorTests {
    private struct Plain: Error, CustomStringConvertible {
        let description: String
    }

    private static let errors: [TransportError] = [
        .poolTimeout, .requestTimeout, .shutDown, .evicted, .retired, .readerCancelled, .secondReader, .staleConnection,
        .truncated, .pingTimeout, .settingsTimeout, .noRoomForStreams, .connectionClosed(afterBytes: true),
        .streamReset(.cancel), .goneAway(.noError), .goneAway(.internalError),
        .connectionClosed(saying: .protocolError),
        TransportError(HTTP1StateMachine.Failure.unexpectedResponse),
        TransportError(HTTP1SyntaxError.malformed("a status that is not a number")),
        TransportError(HTTP2ConnectionError.rule("CONTINUATION without HEADERS")),
        TransportError(HTTP2ConnectionError.flood("empty DATA")), TransportError(translating: ChannelError.eof),
        .noIdentityChosen(Plain(description: "no card")), .noIdentityChosen(Plain(description: "No card.")),
        .clientCertificateRequired(nil, nil),
    ]

    @Test(arguments: errors.indices)
    func anErrorIsDescribedInOneSentence(index: Int) {
        let error = Self.errors[index]
        #expect("\(error)" == error.message && error.errorDescription == error.message)
        #expect(error.message.hasSuffix(".") && !error.message.hasSuffix(".."), "\(error)")
        #expect(!error.message.contains("\n") && !error.message.contains("  "))
    }
}

@Suite("Presented chains", .timeLimit(.minutes(1)))
struct TLSPresentedChainTests {
    private func accepted(awaitsStaple: Bool) -> VerifiedTrust {
        var trust = VerifiedTrust(chain: [], pins: [], isPinned: false)
        trust.awaitsStaple = awaitsStaple
        return trust
    }

    @Test func theInputToThePolicyReportsAMissingStaple() {
        let chain = TLSPresentedChain(certificates: [Data([1])], staple: nil, awaitsStaple: true)
        let trust = chain.trust(host: "example.com", port: 443)
        #expect(trust.presentedChain == [Data([1])] && trust.awaitsStaple && trust.stapledOCSPResponse == nil)
        #expect(trust.host == "example.com" && trust.port == 443)
    }

    @Test(arguments: [(false, nil, false), (true, nil, true), (false, Data([2]), true), (true, Data([2]), true)])
    func aChainIsEvaluatedAgainIfAStapleArrivedOrWasAwaited(awaited: Bool, response: Data?, again: Bool) {
        var chain = TLSPresentedChain(certificates: [Data([1])], staple: nil, awaitsStaple: true)
        let trust = accepted(awaitsStaple: awaited)
        expectEqual(chain.stapleCanArriveNoMore(response, after: trust), again)
        #expect(chain.staple == response && !chain.trust(host: "a", port: 1).awaitsStaple)
        // Once only.
        expectEqual(chain.stapleCanArriveNoMore(Data([3]), after: trust), false)
        #expect(chain.staple == response)
    }

    @Test func aChainWithItsStapleIsEvaluatedOnce() {
        var chain = TLSPresentedChain(certificates: [], staple: Data([2]), awaitsStaple: false)
        expectEqual(chain.stapleCanArriveNoMore(nil, after: accepted(awaitsStaple: true)), false)
        #expect(chain.staple == Data([2]))
    }
}
