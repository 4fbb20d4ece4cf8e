import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetSecurity

/// The reader of DER (X.690, 10) and of times.
@Suite("DER", .timeLimit(.minutes(1)))
struct DERTests {
    private static func octets(_ length: [UInt8], _ count: Int) -> [UInt8] {
        [0x04] + length + [UInt8](repeating: 0x61, count: count)
    }

    @Test(
        arguments: [
            ([0x00], 0), ([0x7F], 127), ([0x81, 0x80], 128), ([0x81, 0xFF], 255), ([0x82, 0x01, 0x00], 256),
            ([0x82, 0xFF, 0xFF], 65_535), ([0x83, 0x01, 0x00, 0x00], 65_536),
        ] as [([UInt8], Int)])
    func shortestLengthIsRead(length: [UInt8], count: Int) throws {
        let der = DER(bytes: Self.octets(length, count))
        #expect(try der.content(der.strictRoot(DER.Tag.octetString)).count == count)
    }

    @Test(
        arguments: [
            ([0x81, 0x00], 0), ([0x81, 0x7F], 127), ([0x82, 0x00, 0x7F], 127), ([0x82, 0x00, 0x80], 128),
            ([0x82, 0x00, 0xFF], 255), ([0x83, 0x00, 0x01, 0x00], 256), ([0x83, 0x00, 0xFF, 0xFF], 65_535),
            ([0x84, 0x00, 0x01, 0x00, 0x00], 65_536), ([0x84, 0x00, 0xFF, 0xFF, 0xFF], 0xFF_FFFF),
            ([0x85, 0x00, 0x00, 0x00, 0x00, 0x80], 128), ([0x80], 0), ([0x80], 128), ([0xFF], 0), ([0x81], 0),
            ([0x82, 0x01], 0),
            ([], 0),
        ] as [([UInt8], Int)])
    func anyOtherLengthIsRefused(length: [UInt8], count: Int) {
        let der = DER(bytes: Self.octets(length, count))
        #expect(throws: DERError.self) { try der.root(DER.Tag.octetString) }
    }

    @Test(
        arguments: [
            [0x1F, 0x04, 0x00], [0x1F, 0x1F, 0x00], [0x9F, 0x02, 0x00], [0xBF, 0x81, 0x00, 0x00], [0xDF, 0x20, 0x00],
            [0x1F, 0x01, 0x00], [0x9F, 0x00],
        ] as [[UInt8]])
    func tagInTheLongFormIsRefused(bytes: [UInt8]) {
        for bytes in [bytes, ASN1.sequence(bytes)] {
            #expect(throws: DERError.self) { try DER(bytes: bytes).strictRoot(bytes[0]) }
        }
    }

    @Test(arguments: [
        ASN1.sequence([0x24, 0x00]), ASN1.sequence([0x2C, 0x02, 0x0C, 0x00]),
        ASN1.sequence([0x22, 0x03, 0x02, 0x01, 0x01]),
        ASN1.value(0xA0, [0x01, 0x01, 0x01]), ASN1.value(0xA0, [0x02, 0x02, 0x00, 0x01]), ASN1.value(0xA0, [0x05]),
        ASN1.sequence([0x05, 0x01, 0x00]), ASN1.sequence([0x10, 0x00]), ASN1.sequence([0x11, 0x00]),
        ASN1.sequence([0x03, 0x02, 0x01, 0x01]), ASN1.sequence([0x03, 0x02, 0x08, 0x00]),
        ASN1.sequence([0x03, 0x01, 0x01]), ASN1.sequence([0x03, 0x00]),
        ASN1.sequence([0x06, 0x02, 0x2A, 0x83]), ASN1.sequence([0x06, 0x03, 0x2A, 0x80, 0x03]),
        ASN1.sequence([0x06, 0x00]),
        ASN1.sequence([0x02, 0x01]), ASN1.null + [0], ASN1.sequence() + ASN1.sequence(),
    ])
    func valueThatIsNotDERIsRefused(bytes: [UInt8]) {
        #expect(throws: DERError.self) { try DER(bytes: bytes).strictRoot(bytes[0]) }
    }

    /// The first nine bits of an INTEGER are neither all 0 nor all 1 (X.690, 8.3.2).
    @Test(
        arguments: [
            ([], false), ([0], true), ([0xFF], true), ([0, 0x80], true), ([0, 0x7F], false), ([0, 0xFF], true),
            ([1, 0], true), ([1, 0x80], true), ([0xFF, 0x7F], true), ([0xFF, 0x80], false), ([0xFF, 0xFF], false),
            ([0xFF, 0x81], false), ([0xFE, 0x80], true), ([0xFE, 0xFF], true), ([0, 0, 0x80], false),
        ] as [([UInt8], Bool)])
    func integerIsTheShortest(octets: [UInt8], isShortest: Bool) {
        #expect(DER.isShortest(octets[...]) == isShortest)
        for tag in [DER.Tag.integer, DER.Tag.enumerated] {
            let der = DER(bytes: ASN1.value(tag, octets))
            #expect(((try? der.strictRoot(tag)) != nil) == isShortest)
        }
    }

    @Test(
        arguments: [
            ([0], true), ([], false), ([1], false), ([7], false), ([8, 0], false), ([0, 0xFF], true),
            ([1, 0xFE], true),
            ([1, 0xFF], false), ([7, 0x80], true), ([7, 0x40], false), ([7, 0xC0], false), ([8, 0x00], false),
            ([4, 1, 0xF0], true), ([4, 1, 0x08], false), ([255, 0], false),
        ] as [([UInt8], Bool)])
    func unusedBitsAreZero(octets: [UInt8], isStrict: Bool) {
        #expect(((try? DER(bytes: ASN1.value(0x03, octets)).strictRoot(0x03)) != nil) == isStrict)
    }

    // MARK: Times

    /// Reading recurses, and the depth of what a server sends is bounded.
    @Test(arguments: [(24, true), (25, false), (1_000, false)])
    func deepNestingIsRefused(depth: Int, isRead: Bool) throws {
        var bytes: [UInt8] = []
        for _ in 0..<depth { bytes = ASN1.sequence(bytes) }
        let der = DER(bytes: bytes)
        #expect(((try? der.strictRoot(DER.Tag.sequence)) != nil) == isRead)
    }

    private static func time(_ text: String) -> CertificateTime? {
        let bytes = text.utf8.count == 13 ? ASN1.utcTime(text) : ASN1.generalizedTime(text)
        let der = DER(bytes: bytes)
        return (try? der.root(bytes[0])).map { CertificateTime(der, $0) }
    }

    /// 1900 and 2100 are no leap years, 2000 is one. The seconds come from `date -ud TEXT +%s`.
    @Test(arguments: [
        ("19000228235959Z", -2_203_891_201), ("19000301000000Z", -2_203_891_200), ("19991231235959Z", 946_684_799),
        ("000229000000Z", 951_782_400), ("000301000000Z", 951_868_800), ("240229235959Z", 1_709_251_199),
        ("20991231235959Z", 4_102_444_799), ("21000228235959Z", 4_107_542_399), ("21000301000000Z", 4_107_542_400),
        ("24000229000000Z", 13_574_563_200), ("99991231235959Z", 253_402_300_799), ("500101000000Z", -631_152_000),
        ("491231235959Z", 2_524_607_999),
    ])
    func timeIsReadInTheGregorianCalendar(text: String, seconds: Int) {
        #expect(Self.time(text)?.seconds == seconds)
    }

    @Test(arguments: [
        "19000229000000Z", "21000229000000Z", "230229000000Z", "240230000000Z", "240431000000Z", "240100000000Z",
        "240132000000Z", "241301000000Z", "240001000000Z", "240101240000Z", "240101006000Z", "240101000060Z",
        "2401010000Z", "240101000000+", "24010100000 Z", "2024010100000Z", "20240101000000.5Z", "240101000000", "Z", "",
    ])
    func textThatIsNoTimeHasNoSeconds(text: String) {
        #expect(Self.time(text)?.seconds == nil)
    }
}
