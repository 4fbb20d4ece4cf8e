import FoundationEssentials
import LinnetSerialization
import Testing

/// AFNetworking's rules, which are the default.
@Suite(.timeLimit(.minutes(5))) struct QueryEncodingTests {
    @Test(
        arguments: [
            // Names in order, pairs joined.
            (["a": 1], "a=1"),
            (["b": 1, "a": 2], "a=2&b=1"),
            (["b": 1, "B": 2, "a": 3, "A": 4], "A=4&B=2&a=3&b=1"),
            (["a10": 1, "a9": 2], "a10=1&a9=2"),
            (["é": 1, "z": 2], "z=2&%C3%A9=1"),
            // Plain values.
            (["a": "x"], "a=x"), (["a": ""], "a="), (["": "x"], "=x"), (["a": nil], "a"), (["a": true], "a=1"),
            (["a": false], "a=0"), (["a": -7], "a=-7"), (["a": 1.5], "a=1.5"), (["a": 2.0], "a=2"),
            (["a": -0.25], "a=-0.25"), (["a": .double(1e21)], "a=1e%2B21"),
            (["a": .integer(.min)], "a=-9223372036854775808"),
            (["a": .unsigned(.max)], "a=18446744073709551615"), (["a": .data(Data([255, 254]))], "a=//4%3D"),
            (["a": .date(Date(timeIntervalSince1970: 0))], "a=1970-01-01T00%3A00%3A00Z"),
            (["a": .date(Date(timeIntervalSince1970: 0.25))], "a=1970-01-01T00%3A00%3A00.250Z"),
            // Dictionaries.
            (["a": ["b": 1]], "a%5Bb%5D=1"), (["a": ["c": 1, "b": 2]], "a%5Bb%5D=2&a%5Bc%5D=1"),
            (["a": ["b": ["c": nil]]], "a%5Bb%5D%5Bc%5D"), (["a": ["b c": 1]], "a%5Bb%20c%5D=1"),
            (["a": [:]], ""), (["a": [:], "b": 1], "b=1"),
            // Arrays.
            (["a": [1, 2]], "a%5B%5D=1&a%5B%5D=2"), (["a": ["z", "b"]], "a%5B%5D=z&a%5B%5D=b"),
            (["a": []], ""), (["a": [[1, 2], [3]]], "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3"),
            (["a": [["k": 1], ["k": 2]]], "a%5B%5D%5Bk%5D=1&a%5B%5D%5Bk%5D=2"), (["a": [nil]], "a%5B%5D"),
            // Sets.
            (["a": .set(["z", "b"])], "a=b&a=z"), (["a": .set([10, 9])], "a=10&a=9"), (["a": .set([])], ""),
            (["a": ["b": .set([2, 1])]], "a%5Bb%5D=1&a%5Bb%5D=2"),
            // Nothing.
            ([:], ""), ([], ""),
        ] as [(Parameters, String)])
    func parametersAreFlattened(parameters: Parameters, expected: String) throws {
        #expect(try QueryEncoder().encode(parameters) == expected)
    }

    @Test(arguments: [
        (":#[]@!$&'()*+,;=", "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"),
        ("/?", "/?"), ("-._~", "-._~"), (" ", "%20"), ("%", "%25"), ("%20", "%2520"),
        ("\"<>\\^`{|}", "%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("azAZ09", "azAZ09"), ("\u{0}\n\r\t\u{7F}", "%00%0A%0D%09%7F"), ("ü", "%C3%BC"), ("€", "%E2%82%AC"),
        ("漢字", "%E6%BC%A2%E5%AD%97"), ("😀", "%F0%9F%98%80"), ("e\u{301}", "e%CC%81"), ("\u{FFFD}", "%EF%BF%BD"),
        ("👨‍👩‍👧", "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"), ("🇩🇪", "%F0%9F%87%A9%F0%9F%87%AA"),
    ])
    func charactersAreEscaped(text: String, expected: String) throws {
        #expect(try QueryEncoder().encode(["k": .string(text)]) == "k=" + expected)
        #expect(try QueryEncoder().encode([text: 1] as Parameters) == expected + "=1")
    }

    @Test func anEmojiOverAFNetworkingsBatchEdgeIsWhole() throws {
        let text = String(repeating: "a", count: 49) + "👴🏻👲🏼👨🏽" + String(repeating: "漢", count: 60)
        let encoded = try QueryEncoder().encode(["k": .string(text)])
        #expect(QueryParser.parse(encoded) == [ParameterValue.Entry("k", .string(text))])
    }

    @Test(arguments: [["a"], "a", 7, nil, .set([1])] as [ParameterValue])
    func valuesWithoutNamesAreRefused(value: ParameterValue) {
        let error = #expect(throws: SerializationError.self) { try QueryEncoder().encode(Parameters(value)) }
        #expect(error?.code == .invalidParameters)
    }

    @Test(arguments: [false, true]) func nestingIsLimited(inArrays: Bool) throws {
        var value: ParameterValue = 1
        for _ in 0..<511 { value = inArrays ? [value] : ["a": value] }
        #expect(try QueryEncoder().encode(["a": value]).isEmpty == false)
        value = ["b": ["c": value]]
        let error = #expect(throws: SerializationError.self) { try QueryEncoder().encode(["a": value]) }
        #expect(error?.code == .nestedTooDeep)
    }

    @Test func repeatedNamesKeepTheirOrder() throws {
        var parameters = Parameters()
        parameters.append("b", 2)
        parameters.append("a", 3)
        parameters.append("b", 1)
        #expect(try QueryEncoder().encode(parameters) == "a=3&b=2&b=1")
    }

    @Test func tenMegabytesAreEncoded() throws {
        let text = String(repeating: "a ", count: 5_000_000)
        #expect(try QueryEncoder().encode(["k": .string(text)]).utf8.count == 20_000_002)
    }

    @Test func whatIsEncodedReadsBack() throws {
        for _ in 0..<500 {
            var entries: [ParameterValue.Entry] = []
            for _ in 0..<Int.random(in: 0...8) {
                entries.append(ParameterValue.Entry(RandomText.make(), .string(RandomText.make())))
            }
            var encoder = QueryEncoder()
            encoder.sortsKeys = false
            let encoded = try encoder.encode(Parameters(.dictionary(entries)))
            #expect(QueryParser.parse(encoded) == entries)
            #expect(try encoder.flatten(Parameters(.dictionary(entries))) == entries)
        }
    }
}
