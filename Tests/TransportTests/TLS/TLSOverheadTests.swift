import Testing

@testable import LinnetTransport

/// Bytes of TLS without application data.
@Suite("TLS overhead", .timeLimit(.minutes(1)))
struct TLSOverheadTests {
    @Test func bytesWithoutContentAreLimited() {
        var overhead = TLSOverhead()
        overhead.received(TLSOverhead.most)
        #expect(!overhead.isExcessive)
        overhead.received(1)
        #expect(overhead.isExcessive)
    }

    /// Gigabytes in large records, and many records of one byte.
    @Test(arguments: [(read: 65_536, content: 65_450), (1_000_000, 998_600), (23, 1), (30, 1)])
    func contentPaysForItsRecords(read: Int, content: Int) {
        var overhead = TLSOverhead()
        for _ in 0..<100_000 {
            overhead.received(read)
            overhead.delivered(content)
            #expect(!overhead.isExcessive)
        }
        // It does not pay in advance.
        overhead.received(TLSOverhead.most + 1)
        #expect(overhead.isExcessive)
    }

    /// A record that arrives in pieces has no content before its end.
    @Test func contentMayComeLate() {
        var overhead = TLSOverhead()
        for _ in 0..<1_000 {
            for _ in 0..<16 { overhead.received(1_024) }
            overhead.delivered(16_362)
            #expect(!overhead.isExcessive)
        }
    }
}
