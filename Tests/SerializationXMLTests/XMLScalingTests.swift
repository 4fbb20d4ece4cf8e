import CommandSupport
import FoundationEssentials
import LinnetSerializationXML
import Testing

/// Twice the input takes about twice the time.
@Suite(.serialized, .timeLimit(.minutes(5))) struct XMLScalingTests {
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let size: Int
        /// The largest size that is within the parser's limits when it is doubled.
        var most = Int.max
        let make: @Sendable (Int) -> String
    }

    /// A text of twice this size is still on the C library's heap. Memory for one above 32 MiB is mapped and cleared
    /// anew, which makes a step in the time, not a slope.
    private static let largestInHeap = 8_000_000

    static let shapes: [Shape] = [
        Shape(testDescription: "text", size: 1_000_000) { "<a>\(String(repeating: "x", count: $0))</a>" },
        Shape(testDescription: "text of other scripts", size: 100_000) {
            "<a>\(String(repeating: "漢", count: $0))</a>"
        },
        Shape(testDescription: "brackets", size: 100_000) { "<a>\(String(repeating: "]", count: $0))</a>" },
        Shape(testDescription: "elements", size: 7500) { "<a>\(String(repeating: "<b>c</b>", count: $0))</a>" },
        Shape(testDescription: "depth", size: 250, most: 500) { count in
            String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
        },
        Shape(testDescription: "names", size: 5000, most: 14_000) { count in
            "<a>\((0..<count).map { "<n\($0)/>" }.joined())</a>"
        },
        Shape(testDescription: "attributes of many elements", size: 1250) { count in
            let element = "<b \((0..<10).map { "n\($0)=''" }.joined(separator: " "))/>"
            return "<a>\(String(repeating: element, count: count))</a>"
        },
        Shape(testDescription: "attributes of one element", size: 50_000) { count in
            "<a\((0..<count).map { " n\($0)=''" }.joined())/>"
        },
        Shape(testDescription: "namespaces", size: 2500, most: 14_000) { count in
            "<a>\((0..<count).map { "<b xmlns='urn:\($0)'/>" }.joined())</a>"
        },
        Shape(testDescription: "namespaces in scope", size: 2500) { count in
            let declared = (0..<500).map { " xmlns:n\($0)='u'" }.joined()
            return "<n0:a\(declared)>\(String(repeating: "<n0:b/>", count: count))</n0:a>"
        },
        Shape(testDescription: "a long namespace", size: 2500) {
            "<a xmlns='\(String(repeating: "u", count: $0))'>\(String(repeating: "<b/>", count: $0))</a>"
        },
        Shape(testDescription: "comments", size: 10_000) { "<a>\(String(repeating: "<!--b-->", count: $0))</a>" },
        Shape(testDescription: "one comment", size: 1_000_000, most: largestInHeap) {
            "<a><!--\(String(repeating: "x", count: $0))--></a>"
        },
        Shape(testDescription: "open comments", size: 125_000) { "<a>\(String(repeating: "<!--", count: $0))" },
        Shape(testDescription: "sections", size: 10_000) { "<a>\(String(repeating: "<![CDATA[b]]>", count: $0))</a>" },
        Shape(testDescription: "one section", size: 1_000_000, most: largestInHeap) {
            "<a><![CDATA[\(String(repeating: "x", count: $0))]]></a>"
        },
        Shape(testDescription: "instructions", size: 10_000) { "<a>\(String(repeating: "<?b c?>", count: $0))</a>" },
        Shape(testDescription: "references", size: 25_000) { "<a>\(String(repeating: "&amp;", count: $0))</a>" },
        Shape(testDescription: "a value", size: 1_000_000, most: largestInHeap) {
            "<a b='\(String(repeating: "x", count: $0))'/>"
        },
        Shape(testDescription: "references in a value", size: 25_000) {
            "<a b='\(String(repeating: "&lt;", count: $0))'/>"
        },
        Shape(testDescription: "declarations", size: 2500, most: 9000) { count in
            "<!DOCTYPE a [\((0..<count).map { "<!ATTLIST n\($0) b CDATA #IMPLIED>" }.joined())]><a/>"
        },
        Shape(testDescription: "alternatives", size: 12_500) { count in
            "<!DOCTYPE a [<!ATTLIST a b (\((0..<count).map { "n\($0)" }.joined(separator: "|"))) #IMPLIED>]><a/>"
        },
        Shape(testDescription: "white space", size: 500_000) { "<a\(String(repeating: "\n", count: $0))/>" },
    ]

    @Test(.enabled(if: !isSanitized), arguments: shapes) func twiceTheInputTakesTwiceTheTime(shape: Shape) {
        let parser = XMLEventParser(options: XMLParsingOptions(maximumDepth: 1024, maximumNodes: .max))
        let ratio = growth(from: shape.size, upTo: shape.most, { Data(shape.make($0).utf8) }) {
            try? parser.parse($0) { _ in }
        }
        #expect(ratio <= 2.5, "\(shape.testDescription): \(ratio)")
    }
}
