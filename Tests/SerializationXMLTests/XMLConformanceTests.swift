import FoundationEssentials
import LinnetSerializationXML
import Testing

/// Warnings and errors, as in browsers and in libxml2 for files.
@Suite(.timeLimit(.minutes(1))) struct XMLConformanceTests {
    private func root(_ text: String) throws -> XMLTree.Element { try XMLTree(parsing: Data(text.utf8)).root }
    private func failure(_ text: String) -> XMLSyntaxError? {
        #expect(throws: XMLSyntaxError.self) { try XMLTree(parsing: Data(text.utf8)) }
    }

    @Test func lineEndsAreOneLineFeed() throws {
        #expect(try root("<a>b\r\nc\rd</a>").text == "b\nc\nd")
        #expect(try root("<a><![CDATA[b\r\nc\rd]]></a>").text == "b\nc\nd")
        #expect(try root("<a b='c\r\nd\re\n'/>").attributes["b"] == "c d e ")
        #expect(try root("<a b='&#13;&#10;'>&#13;&#10;</a>").text == "\r\n")
        var told: [XMLEvent] = []
        try XMLEventParser().parse(Data("<a><!--b\r\nc--><?p d\r\ne?></a>".utf8)) { told.append($0) }
        #expect(told[1...2] == [.comment("b\nc"), .processingInstruction(target: "p", data: "d\ne")])
    }

    @Test(arguments: [
        "<?xml version='1.1'?><a/>", "<a xml:space='anything'/>", "<a xml:lang='no language'/>",
        "<a xmlns='relative/name'/>",
        "<a xmlns='not a URI'/>", "<x:a xmlns:x='also not one'/>", "<a xml:id='1'/>", "<a xml:space='preserve'> </a>",
    ])
    func warningsAreAccepted(text: String) throws {
        #expect(try root(text).name == "a")
    }

    @Test(arguments: [
        "<x:a/>", "<a x:b=''/>", "<a xmlns:x=''/>", "<a xmlns:xml='urn:x'/>", "<a xmlns:xmlns='urn:x'/>",
        "<a xmlns:x='u' xmlns:y='u' x:b='' y:b=''/>", "<a:b:c xmlns:a='u'/>",
        "<a xmlns='http://www.w3.org/2000/xmlns/'/>",
        "<?xml version='2.0'?><a/>", "<a b='' b=''/>", "<a><b></a></b>", "<a>]]></a>", "<a b='<'/>",
        "<?xml version='1.0'?><?xml version='1.0'?><a/>",
        " <?xml version='1.0'?><a/>", "<a><!-- -- --></a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&lt</a>", "<1/>",
        "<a b/>",
    ])
    func errorsAreRefused(text: String) {
        #expect(failure(text)?.kind == .malformed)
    }

    @Test func errorsHaveALineAndAKind() throws {
        let error = try #require(failure("<a>\n<b>\n</a>"))
        #expect(error.line == 3)
        #expect(error.detail?.contains("mismatch") == true)
        #expect(!error.description.contains("\n"))
        #expect(
            try #require(failure("<a>\u{7}" + String(repeating: "\u{1B}", count: 500))).description.utf8.count < 400)
    }

    /// Constructs across the boundary of two pieces of input are seen.
    @Test(arguments: [3980..<4020, 65_400..<65_560]) func endOfASectionIsSeenAtAnyOffset(positions: Range<Int>)
        throws
    {
        for position in positions {
            let start = "<a>" + String(repeating: "x", count: position - 3)
            #expect(throws: XMLSyntaxError.self) { try XMLTree(parsing: Data((start + "]]></a>").utf8)) }
            #expect(throws: XMLSyntaxError.self) { try XMLTree(parsing: Data((start + "]]]]]></a>").utf8)) }
            #expect(try root(start + "]]</a>").text.utf8.count == position - 1)
            #expect(try root(start + "é\r\n😀]]&gt;</a>").text.hasSuffix("xé\n😀]]>"))
        }
        #expect(failure("<a>" + String(repeating: "]", count: 200_000) + "></a>")?.kind == .malformed)
        #expect(try root("<a>" + String(repeating: "]", count: 200_000) + "</a>").text.utf8.count == 200_000)
    }

    @Test func attributesKnowTheirNamespaces() throws {
        let element = try root(
            "<a href='1' x:href='2' xml:lang='en' xmlns='urn:a' xmlns:x='http://www.w3.org/1999/xlink'><b x:href='3'/></a>"
        )
        #expect(element.attributes == ["href": "1", "x:href": "2", "xml:lang": "en"])
        #expect(
            element.attributeNamespaces
                == ["x:href": "http://www.w3.org/1999/xlink", "xml:lang": "http://www.w3.org/XML/1998/namespace"])
        #expect(element.attribute(XMLName("href", namespace: "http://www.w3.org/1999/xlink")) == "2")
        #expect(element.attribute(XMLName("href")) == "1")
        #expect(element.attribute(XMLName("href", namespace: "urn:a")) == nil)
        #expect(element.attribute(XMLName("x:href")) == nil)
        #expect(element["b"]?.attribute(XMLName("href", namespace: "http://www.w3.org/1999/xlink")) == "3")
    }
}
