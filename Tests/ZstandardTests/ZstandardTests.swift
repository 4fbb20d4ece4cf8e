import CompressionSupport
import FoundationEssentials
import LinnetCompression
import LinnetZstandard
import Testing

/// RFC 8878 and RFC 9659.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ZstandardTests {
    private let expectations = CodingExpectations(.zstandard)

    @Test func itsNameIsZstd() throws {
        #expect(ContentCoding.zstandard.name == "zstd")
        #expect(try ContentCoding.codings(in: "zstd", among: [.gzip, .zstandard]) == [.zstandard])
    }

    @Test func contentSurvivesEncodingAndDecoding() throws { try expectations.expectRoundTrips() }

    @Test func contentThatEndsEarlyIsAnError() throws { try expectations.expectCutsAreFound() }

    @Test func bytesBehindTheContentAreAnError() throws {
        try expectations.expectTrailingBytesAreFound()
        try expectations.expectTrailingBytesAreFound([0x28, 0xB5, 0x2F, 0xFE])
    }

    @Test func changedBitsAreFound() throws { try expectations.expectChangesAreFound() }

    @Test func anyBytesEndInAResultOrAnError() throws {
        try expectations.expectAnyBytesEnd()
        try expectations.expectAnyBytesEnd(after: [0x28, 0xB5, 0x2F, 0xFD])
    }

    @Test func tenGigabytesOfZerosAreStoppedByTheRatio() throws { try expectations.expectRatioStopsZeros() }

    @Test func tenGigabytesOfZerosAreStoppedByTheSize() throws { try expectations.expectSizeStopsZeros() }

    /// A frame of three literals with this window descriptor (RFC 8878, section 3.1.1.1.2).
    private func frame(window: UInt8) -> Data { Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, window, 0x19, 0, 0, 97, 98, 99]) }

    /// RFC 9659, section 3: at most 8 MiB.
    @Test func windowsAreLimited() throws {
        #expect(try ContentCoding.zstandard.decoded(frame(window: 13 << 3)) == Data("abc".utf8))
        for window in [13 << 3 | 1, 14 << 3, 31 << 3 | 7] as [UInt8] {
            #expect(code { try ContentCoding.zstandard.decoded(frame(window: window)) } == .windowTooLarge)
        }
    }

    /// RFC 8878, sections 3.1 and 3.1.2.
    @Test func framesFollowEachOtherAndSomeAreSkipped() throws {
        let (abc, skipped) = (frame(window: 0), Data([0x5A, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 1, 2]))
        #expect(try ContentCoding.zstandard.decoded(abc + skipped + abc) == Data("abcabc".utf8))
        #expect(try ContentCoding.zstandard.decoded(skipped).isEmpty)
        // Wherever a chunk ends.
        let all = abc + skipped + abc + skipped
        for end in 1..<all.count {
            let decoder = try ContentDecoder([.zstandard])
            var decoded = Data()
            for chunk in [all.prefix(end), all.dropFirst(end)] {
                decoder.append(chunk)
                while let piece = try decoder.next() { decoded.append(piece) }
            }
            try decoder.finish()
            #expect(decoded == Data("abcabc".utf8))
        }
    }

    /// The library may know formats that were in use before RFC 8878.
    @Test func olderFormatsAreRefused() throws {
        for version in 0x22...0x27 as ClosedRange<UInt8> {
            #expect(
                code { try ContentCoding.zstandard.decoded(Data([version, 0xB5, 0x2F, 0xFD, 0, 0])) } == .invalidData)
        }
    }

    /// RFC 8878, section 3.1.1.1.3: the identifier of a dictionary, which RFC 9842 is about.
    @Test func framesWithADictionaryAreRefused() throws {
        let bytes: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x01, 0, 9, 0x19, 0, 0, 97, 98, 99]
        #expect(code { try ContentCoding.zstandard.decoded(Data(bytes)) } == .invalidData)
    }
}
