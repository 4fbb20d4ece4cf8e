import FoundationEssentials

/// Gives every processing instruction data, be it none: FoundationXML ends the process at one that is a target alone, as in
/// `<?page-break?>`.
enum XMLInstructions {
    /// The document with a space in each such instruction; what stands in comments and CDATA is left as it is.
    ///
    /// Throws ``XMLSyntaxError`` where it cannot be told whether it is one: in what looks like a comment or CDATA, in a
    /// document whose type declaration could make it look so.
    static func completed(_ document: Data) throws(XMLSyntaxError) -> Data {
        let bytes = [UInt8](document)
        // Behind a declaration that is broken the parser goes on as it sees fit.
        if bytes.starts(with: "<?xml".utf8), let end = bytes.firstIndex(of: UInt8(ascii: ">")) {
            guard bytes[end - 1] == UInt8(ascii: "?") else { throw XMLSyntaxError(kind: .malformed, line: 1) }
        }
        var output: [UInt8] = []
        var copied = 0
        var index = 0
        var hasDocumentType = false
        while let start = bytes[index...].firstIndex(of: UInt8(ascii: "<")) {
            let rest = bytes[start...]
            if rest.starts(with: "<!--".utf8) {
                index = try skip(bytes, from: start + 4, to: "-->", isCertain: !hasDocumentType)
            } else if rest.starts(with: "<![CDATA[".utf8) {
                index = try skip(bytes, from: start + 9, to: "]]>", isCertain: !hasDocumentType)
            } else if rest.starts(with: "<?".utf8) {
                let end = find("?>", in: bytes[...], from: start + 2)
                if let end, isTargetAlone(bytes[(start + 2)..<end]) {
                    output += bytes[copied..<end]
                    output.append(UInt8(ascii: " "))
                    copied = end
                }
                index = end.map { $0 + 2 } ?? bytes.count
            } else {
                if rest.starts(with: "<!DOCTYPE".utf8) { hasDocumentType = true }
                index = start + 1
            }
        }
        return output.isEmpty ? document : Data(output + bytes[copied...])
    }

    /// The document with a space in whatever could be taken for such an instruction, in comments and CDATA too.
    ///
    /// FoundationXML goes on after an error, in its own way: behind a character that XML does not allow, the rest of a
    /// comment is no comment any more. This document it can read whatever it makes of it.
    static func completedEverywhere(_ document: Data) -> Data {
        let bytes = [UInt8](document)
        var output: [UInt8] = []
        var copied = 0
        var isOpen = false
        for index in bytes.indices.dropLast() {
            switch (bytes[index], bytes[index + 1]) {
            case (UInt8(ascii: "<"), UInt8(ascii: "?")):
                isOpen = true
            case (UInt8(ascii: "?"), UInt8(ascii: ">")) where isOpen:
                output += bytes[copied..<index]
                output.append(UInt8(ascii: " "))
                copied = index
                isOpen = false
            case (0x20, _), (0x09, _), (0x0A, _), (0x0D, _):
                isOpen = false
            default: continue
            }
        }
        return output.isEmpty ? document : Data(output + bytes[copied...])
    }

    private static func skip(
        _ bytes: [UInt8], from start: Int, to end: StaticString, isCertain: Bool
    ) throws(XMLSyntaxError) -> Int {
        let close = find(end, in: bytes[...], from: start) ?? bytes.count
        if !isCertain, start < close, find("<?", in: bytes[..<close], from: start) != nil {
            throw XMLSyntaxError(kind: .malformed, line: 0)
        }
        return min(close + end.utf8CodeUnitCount, bytes.count)
    }

    private static func isTargetAlone(_ content: ArraySlice<UInt8>) -> Bool {
        !content.contains { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    }

    private static func find(_ text: StaticString, in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
        let wanted = text.withUTF8Buffer { Array($0) }
        var index = start
        while index < bytes.endIndex, let next = bytes[index...].firstIndex(of: wanted[0]) {
            if bytes[next...].starts(with: wanted) { return next }
            index = next + 1
        }
        return nil
    }
}
