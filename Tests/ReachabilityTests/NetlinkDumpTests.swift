import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct NetlinkDumpTests {
    private func receive(_ datagrams: [MessageBytes]) -> (outcomes: [NetlinkDump.Outcome?], state: NetworkState) {
        var state = NetworkState()
        var dump = NetlinkDump(sequence: 5)
        let outcomes = datagrams.map { dump.receive(NetlinkDatagram($0.bytes[...]), into: &state) }
        return (outcomes, state)
    }

    private func end(_ code: Int32 = 0, flags: UInt16 = 2) -> MessageBytes {
        .message(type: 3, flags: flags, sequence: 5, body: MessageBytes.raw(code))
    }

    @Test func aDumpSpansDatagramsUpToItsEnd() {
        let result = receive([.link(1, sequence: 5) + .link(2, sequence: 5), .link(3, sequence: 5), end()])
        #expect(result.outcomes == [nil, nil, .complete])
        #expect(result.state.links.keys.sorted() == [1, 2, 3])
    }

    @Test func messagesOfAnotherDumpAreIgnored() {
        let foreignEnd = MessageBytes.message(type: 3, sequence: 4, body: MessageBytes.raw(Int32(0)))
        let result = receive([.link(1, sequence: 4) + foreignEnd, .link(2, sequence: 5) + end()])
        #expect(result.outcomes == [nil, .complete])
        #expect(result.state.links.keys.sorted() == [2])
    }

    @Test func notificationsAreNotPartOfADump() {
        // A notification has the sequence number and port of the program that made the change.
        var state = NetworkState()
        var dump = NetlinkDump(sequence: 5, port: 77)
        #expect(dump.receive(NetlinkDatagram(MessageBytes.link(1, sequence: 5).bytes[...]), into: &state) == nil)
        #expect(state == NetworkState())
    }

    @Test func anInterruptionAnywhereIsReported() {
        let interrupted = MessageBytes.message(type: 16, flags: 0x12, sequence: 5, body: MessageBytes.link(1).bytes)
        #expect(receive([interrupted + .link(2, sequence: 5), end()]).outcomes == [nil, .interrupted])
        #expect(receive([end(flags: 0x12)]).outcomes == [.interrupted])
        #expect(receive([.message(type: 4, sequence: 5, body: []), end()]).outcomes == [nil, .interrupted])
    }

    @Test func aRefusalCarriesTheErrorNumber() {
        let error = MessageBytes.message(type: 2, sequence: 5, body: MessageBytes.raw(Int32(-16)))
        #expect(receive([error]).outcomes == [.refused(16)])
        #expect(receive([end(-12)]).outcomes == [.refused(12)])
        #expect(receive([end(.min)]).outcomes == [.refused(.max)])
    }

    @Test(arguments: [-95, -97, -2] as [Int32])
    func anUnsupportedFamilyOrAMissingTableIsAnEmptyDump(code: Int32) {
        let error = MessageBytes.message(type: 2, sequence: 5, body: MessageBytes.raw(code))
        #expect(receive([error]).outcomes == [.complete])
    }

    @Test func aMalformedDumpIsReadToItsEnd() {
        let broken = MessageBytes.message(type: 16, sequence: 5, body: [0, 0])
        #expect(receive([broken, .link(2, sequence: 5), end()]).outcomes == [nil, nil, .malformed])
    }

    @Test func theRequestHasTheKernelsLayout() {
        let request = NetlinkRequest(subject: "routes", type: 26, body: [10] + [UInt8](repeating: 0, count: 11))
        let expected = MessageBytes.message(
            type: 26, flags: 0x301, sequence: 9, body: [10] + [UInt8](repeating: 0, count: 11))
        #expect(request.encoded(sequence: 9) == expected.bytes)
        #expect(NetlinkRequest.all(isStrict: false).map(\.type) == [18, 22, 22, 26, 26])
        #expect(NetlinkRequest.all(isStrict: true).map(\.type) == [18, 22, 22, 26, 26, 26])
    }
}
