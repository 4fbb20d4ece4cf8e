import CommandSupport
import FoundationEssentials
import LinnetSerialization
import Testing

/// Twice the input takes at most two and a half times as long.
@Suite(.timeLimit(.minutes(5))) struct ScalingTests {
    typealias Case = ScalingCase

    @Test(
        arguments: [
            Case("one name", 10_000, repeated("a=1&")) { _ = try QueryParser().parse($0) },
            Case("other names", 5000, numbered("a", "=1&")) { _ = try QueryParser().parse($0) },
            Case("elements", 5000, repeated("a[]=1&")) { _ = try QueryParser().parse($0) },
            Case("dictionaries in an array", 3000, repeated("a[][b]=1&")) { _ = try QueryParser().parse($0) },
            Case("names in a dictionary", 3000, numbered("a[b", "]=1&")) { _ = try QueryParser().parse($0) },
            Case("one element of many names", 3000, numbered("a[][b", "]=1&")) { _ = try QueryParser().parse($0) },
            Case("open brackets", 20_000, repeated("[")) { _ = try QueryParser().parse($0) },
            Case("percent signs", 20_000, repeated("%41")) { _ = try QueryParser().parse($0) },
            Case("indices", 3000, numbered("a[", "]=1&")) {
                var parser = QueryParser()
                parser.arrayStyle = .indices
                _ = try parser.parse($0)
            },
            Case("repeated style", 10_000, repeated("a=1&")) {
                var parser = QueryParser()
                parser.arrayStyle = .repeated
                _ = try parser.parse($0)
            },
            Case("combined", 5000, repeated("a=1&a[]=2&")) {
                var parser = QueryParser()
                parser.repetitionStyle = .combined
                _ = try parser.parse($0)
            },
            Case("commas", 20_000, repeated(",")) {
                var parser = QueryParser()
                parser.arrayStyle = .commaSeparated
                _ = try parser.parse("a=" + $0)
            },
        ])
    func queriesAreReadInLinearTime(_ it: Case) throws {
        #expect(try growth(from: it.count, it.make, it.work) <= 2.5)
    }

    @Test func queriesAreWrittenInLinearTime() throws {
        let values = { (count: Int) -> RequestParameters in
            ["a": ParameterValue.array((0..<count).map { ["b": .integer(Int64($0)), "c": ["d": "x y"]] })]
        }
        #expect(try growth(from: 1000, values) { _ = try QueryEncoder().encode($0) } <= 2.5)
        #expect(try growth(from: 1000, values) { _ = try QueryEncoder().flatten($0) } <= 2.5)
        #expect(
            growth(from: 5000, { $0 }) { count in
                var value: ParameterValue = []
                for _ in 0..<count { value.append(1) }
                for index in 0..<count { value[index] = 2 }
            } <= 2.5)
    }

    @Test(
        arguments: [
            Case("integers", 2000, repeated("<integer> 1 </integer>")) { try propertyList("<array>\($0)</array>") },
            Case("keys", 1000, numbered("<key>k", "</key><true/>")) { try propertyList("<dict>\($0)</dict>") },
            Case("one key", 1000, repeated("<key>k</key><true/>")) { try propertyList("<dict>\($0)</dict>") },
            Case("text", 10_000, repeated("\r\n&amp;&#13;x")) { try propertyList("<string>\($0)</string>") },
            Case("sections", 3000, repeated("<![CDATA[a\r]]><!-- -->")) { try propertyList("<string>\($0)</string>") },
            Case("comments", 3000, repeated("<!-- -->")) { try propertyList("\($0)<true/>") },
            Case("open comments", 5000, repeated("<!--")) { try propertyList("\($0)") },
            Case("attributes", 5000, repeated(" a=''")) { try propertyList("<true\($0)/>") },
            Case("data", 5000, repeated("AAAA\n")) { try propertyList("<data>\($0)</data>") },
            Case("digits", 20_000, repeated("9")) { try propertyList("<integer>\($0)</integer>") },
            Case("space", 20_000, repeated(" ")) { try propertyList("<integer>\($0)1</integer>") },
        ])
    func propertyListsInXMLAreReadInLinearTime(_ it: Case) throws {
        #expect(try growth(from: it.count, it.make, it.work) <= 2.5)
    }

    private static func propertyList(_ text: String) throws {
        _ = try? PropertyListValue(parsing: Data(text.utf8))
    }

    @Test(arguments: [PropertyListValue.Format.xml, .binary])
    func propertyListsAreWrittenAndReadInLinearTime(format: PropertyListValue.Format) throws {
        let value = { (count: Int) -> PropertyListValue in
            let entries = (0..<count).map {
                ("k\($0)", ["n": .integer(Int64($0)), "s": "text \($0)"] as PropertyListValue)
            }
            return [.dictionary(Dictionary(uniqueKeysWithValues: entries))]
        }
        #expect(try growth(from: 500, value) { _ = try $0.data(format: format) } <= 2.5)
        let written = { (count: Int) in (try? value(count).data(format: format)) ?? Data() }
        #expect(try growth(from: 500, written) { _ = try PropertyListValue(parsing: $0) } <= 2.5)
    }

    @Test(
        arguments: [
            Case("parameters", 3000, numbered(";p", "=v")) { _ = MIMEType("a/b" + $0) },
            Case("one parameter", 3000, repeated(";p=\"v\\\"\"")) { _ = MIMEType("a/b" + $0) },
            Case("semicolons", 20_000, repeated(";")) { _ = MIMEType("a/b" + $0) },
            Case("quotes", 20_000, repeated("\"")) { _ = MIMEType("a/b;p=" + $0) },
            Case("space", 20_000, repeated(" ")) { _ = MIMEType("a/b;p=" + $0 + "x" + $0) },
            Case("fields", 3000, repeated("a/b;charset=x,a/b,")) {
                _ = makeResponse("", type: $0).mediaType
            },
        ])
    func mediaTypesAreReadInLinearTime(_ it: Case) throws {
        #expect(try growth(from: it.count, it.make, it.work) <= 2.5)
    }

    @Test(arguments: [
        "utf-8", "iso-8859-1", "windows-1252", "utf-16", "utf-32", "koi8-r", "windows-1258", "big5", "euc-jp",
        "gb18030",
        "iso-2022-jp", "shift_jis", "euc-kr", "x-user-defined",
    ])
    func textsAreReadInLinearTime(name: String) throws {
        let charset = try #require(Charset(name: name))
        let text = { (count: Int) in [UInt8](repeating: name.hasPrefix("utf-32") ? 0 : 0x41, count: count * 4) }
        // Both sizes exceed the C library's limit for its heap, where pages are not cleared for each text.
        #expect(growth(from: 100_000, upTo: 400_000, text) { _ = charset.decode($0) } <= 2.5)
    }
}
