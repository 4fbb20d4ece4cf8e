import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSerializationXML
import Testing

@Suite(.timeLimit(.minutes(5))) struct XMLHostileDocumentTests {
    private func failure(_ data: Data, options: XMLParsingOptions = XMLParsingOptions()) -> XMLSyntaxError.Kind? {
        #expect(throws: XMLSyntaxError.self) { _ = try XMLTree(parsing: data, options: options) }?.kind
    }

    /// Ten entities, each with ten references to the previous one: a few hundred bytes for three gigabytes.
    private static func billionLaughs(_ content: String) -> String {
        var text = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY x0 \"lol\">"
        for level in 1...9 {
            text += "<!ENTITY x\(level) \"\(String(repeating: "&x\(level - 1);", count: 10))\">"
        }
        return text + "]>" + content
    }

    @Test(arguments: ["<a>&x9;</a>", "<a b=\"&x9;\"/>", "<a>&x1;</a>", "<a/>"])
    func billionLaughsAreRefused(content: String) {
        #expect(failure(Data(Self.billionLaughs(content).utf8)) == .entityDeclaration)
    }

    @Test func largeEntityThatIsUsedOftenIsRefused() {
        let huge = String(repeating: "x", count: 100_000)
        let text = "<!DOCTYPE a [<!ENTITY x \"\(huge)\">]><a>\(String(repeating: "&x;", count: 1000))</a>"
        #expect(failure(Data(text.utf8)) == .entityDeclaration)
    }

    @Test(arguments: [false, true]) func entitiesInUTF16AreSeen(bigEndian: Bool) {
        var bytes: [UInt8] = bigEndian ? [0xFE, 0xFF] : [0xFF, 0xFE]
        for unit in Self.billionLaughs("<a>&x9;</a>").utf16 {
            let pair = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
            bytes += bigEndian ? pair.reversed() : pair
        }
        #expect(failure(Data(bytes)) == .entityDeclaration)
    }

    /// A document whose declarations the scanner cannot see is refused, or its text stays within the limits.
    @Test(arguments: ["UTF-7", "IBM037", "UTF-32"]) func declarationsInOtherEncodingsDoNotGrow(encoding: String) {
        let text = Self.billionLaughs("<a>&x9;</a>").replacing("1.0\"?", with: "1.0\" encoding=\"\(encoding)\"?")
        let tree = try? XMLTree(parsing: Data(text.utf8))
        #expect((tree?.root.text.utf8.count ?? 0) <= text.utf8.count * 2)
    }

    @Test func documentsThatExpandAreRefused() throws {
        var options = XMLParsingOptions()
        options.maximumExpansion = 1
        let latin = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>"
        var bytes = Data(latin.utf8)
        bytes += [UInt8](repeating: 0xE9, count: 1000)
        bytes += Data("</a>".utf8)
        #expect(failure(bytes, options: options) == .expandsTooMuch)
        #expect(try XMLTree(parsing: bytes).root.text == String(repeating: "é", count: 1000))
    }

    @Test func nodesAreLimited() throws {
        var options = XMLParsingOptions()
        options.maximumNodes = 10
        let nine = Data("<a>\(String(repeating: "<b/>", count: 9))</a>".utf8)
        #expect(try XMLTree(parsing: nine, options: options).root.elements.count == 9)
        #expect(failure(Data("<a>\(String(repeating: "<b/>", count: 10))</a>".utf8), options: options) == .tooManyNodes)
        #expect(
            failure(Data("<a b='' c='' d='' e='' f='' g='' h='' i='' j='' k=''/>".utf8), options: options)
                == .tooManyNodes)
    }

    @Test(
        arguments: [
            "<!DOCTYPE a [<!ENTITY x SYSTEM \"FILE\">]><a>&x;</a>",
            "<!DOCTYPE a [<!ENTITY x PUBLIC \"p\" \"FILE\">]><a b=\"&x;\"/>",
            "<!DOCTYPE a [<!ENTITY % x SYSTEM \"FILE\">%x;]><a>b</a>",
            "<!DOCTYPE a SYSTEM \"FILE\"><a>b</a>", "<!DOCTYPE a PUBLIC \"p\" \"FILE\"><a>b</a>",
            "<a xmlns:xi=\"http://www.w3.org/2001/XInclude\"><xi:include parse=\"text\" href=\"FILE\"/></a>",
            "<?xml-stylesheet href=\"FILE\"?><a>b</a>",
            "<?oasis-xml-catalog catalog=\"FILE\"?><!DOCTYPE a SYSTEM \"x\"><a>b</a>",
        ])
    func externalResourcesAreNotLoaded(template: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "linnet-xml-\(UUID().uuidString)")
        // As an entity, the file would add text; as a document type, an attribute.
        try Data("<!ATTLIST a secret CDATA \"secret\"> secret".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let text = template.replacing("FILE", with: file.absoluteString)
        let result = Result { try XMLTree(parsing: Data(text.utf8)) }
        guard !template.contains("<!ENTITY") else {
            #expect(#expect(throws: XMLSyntaxError.self) { try result.get() }?.kind == .entityDeclaration)
            return
        }
        let root = try result.get().root
        #expect(!root.text.contains("secret"))
        #expect(root.attributes["secret"] == nil)
    }

    @Test func instructionsWithoutDataAreRead() throws {
        for document in ["<a><?p?></a>", "<?p?><a/>", "<a/><?p?>", "<!DOCTYPE a [<?p?>]><a/>"] {
            _ = try XMLTree(parsing: Data(document.utf8))
        }
        let kept = "<a><!-- <?p?> --><![CDATA[<?p?>]]></a>"
        #expect(try XMLTree(parsing: Data(kept.utf8)).root.text == "<?p?>")
        // Not a comment, but part of the document type's name.
        let hidden = "<!DOCTYPE a SYSTEM \"<!--\"><a>b<?p?></a><!-- -->"
        #expect(try XMLTree(parsing: Data(hidden.utf8)).root.text == "b")
    }

    @Test(arguments: [
        "<a><?p\u{6}]><?q?>b</a>", "<a><!-- \u{6} <?q?> --></a>", "<a><![CDATA[\u{1}<?q?>]]></a>",
        "<a b=\"<?q?>\"/>", "<a><?p <!-- ?><?q?>\u{6}</a>", "<a>&#1;<?p?><!-- <?q?> --></a>",
        "<?utf32\"UTF-8\"?><t; 2\"><c/>te<?pda4a?>&#713YI\" Ye><?pda&4#>?a713YI\" Ye!<x>]I\"<?\u{6}]><?pda4a?>&#713;</a:r>",
    ])
    func instructionsAfterErrorsAreHarmless(document: String) {
        #expect(failure(Data(document.utf8)) == .malformed)
    }

    @Test(arguments: [
        ("<a><!-- <?p?> --><b/></a>", ["<?p?>"]), ("<a><?p?><!--<?q?><?r s?>--></a>", ["<?q?><?r s?>"]),
        ("<a><!-- <?p x?> --></a>", ["<?p x?>"]),
    ])
    func commentsAreDeliveredUnchanged(document: String, comments: [String]) throws {
        var told: [String] = []
        try XMLEventParser().parse(Data(document.utf8)) { event in
            if case .comment(let text) = event {
                told.append(text.hasPrefix(" ") ? String(text.dropFirst().dropLast()) : text)
            }
        }
        #expect(told == comments)
    }

    @Test func mutatedDocumentsNeverCrash() {
        let whole = Array(
            "<?xml version=\"1.0\"?><!DOCTYPE a [<!ATTLIST a g (h|i) 'h' j NOTATION (k) #IMPLIED><!NOTATION k SYSTEM 'l'><!ELEMENT a (m?,n*)>]><a b=\"1\" xmlns:x=\"u\">t&amp;<x:c><![CDATA[d]]></x:c><!-- e --><?f g?></a>"
                .utf8)
        for length in 0..<whole.count { _ = try? XMLTree(parsing: Data(whole.prefix(length))) }
        var dice = SplitMix(seed: RandomSeed.next())
        for _ in 0..<5000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...5, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = .random(in: 0...255, using: &dice)
            }
            _ = try? XMLTree(parsing: Data(bytes))
        }
    }
}
