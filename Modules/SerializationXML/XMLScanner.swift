#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Scans the bytes before the parser sees them, and stops where they exceed a limit.
///
/// libxml2 takes quadratic time for some parts of a tag or a declaration, so that checking them afterwards would be
/// too late. The scanner counts tags, comments, sections, instructions and declarations. It is exact in a well-formed
/// document, and passes on no more of a malformed one.
struct XMLScanner {
    private enum State {
        case text, open, bang, bangDash, tag, literal, comment, cdata, instruction, documentType, declaration
    }

    /// The maximum number of names in the declarations of a document type.
    private static let maximumDeclaredNames = 100_000

    private let options: XMLParsingOptions
    private var state = State.text
    /// Within the brackets of the document type.
    private var isSubset = false
    /// The character that ends the literal, and the state after it.
    private var quote: UInt8 = 0
    private var stateAfterLiteral = State.tag
    /// The number of characters seen of the end of a comment, a section or an instruction.
    private var matched = 0
    private var textLength = 0
    private var nameLength = 0
    private var attributes = 0
    private var alternatives = 0
    private var declaredNames = 0
    /// The line of the next byte, from 1.
    private(set) var line = 1

    init(options: XMLParsingOptions) { self.options = options }

    /// Scans on; returns the number of bytes that may be parsed, with an error if it is not all of them.
    mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) -> (count: Int, error: XMLSyntaxError?) {
        var index = 0
        var failure: XMLSyntaxError?
        while index < bytes.count, failure == nil {
            let run = plainRun(UnsafeBufferPointer(rebasing: bytes[index...]))
            textLength += run
            index += run
            failure = limitOfTexts()
            guard failure == nil, index < bytes.count else { break }
            failure = take(bytes[index])
            if failure == nil { index += 1 }
        }
        line += Self.lineFeeds(UnsafeBufferPointer(rebasing: bytes[..<index]))
        return (index, failure.map { XMLSyntaxError(kind: $0.kind, line: line, detail: $0.detail) })
    }

    private static func lineFeeds(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard var place = bytes.baseAddress else { return 0 }
        let end = place + bytes.count
        var count = 0
        while let found = memchr(place, CInt(UInt8(ascii: "\n")), end - place) {
            count += 1
            place = UnsafePointer(found.assumingMemoryBound(to: UInt8.self)) + 1
        }
        return count
    }

    /// The number of next bytes that do not affect the scanner.
    private func plainRun(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let wanted: UInt8
        switch state {
        case .text where !isSubset: wanted = UInt8(ascii: "<")
        case .literal: wanted = quote
        case .comment where matched == 0: wanted = UInt8(ascii: "-")
        case .cdata where matched == 0: wanted = UInt8(ascii: "]")
        case .instruction where matched == 0: wanted = UInt8(ascii: "?")
        default: return 0
        }
        guard let base = bytes.baseAddress, let found = memchr(base, CInt(wanted), bytes.count) else {
            return bytes.count
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private func limitOfTexts() -> XMLSyntaxError? {
        guard textLength > options.maximumTextBytes else { return nil }
        return Self.limit(.tooLarge, "a text of more than \(options.maximumTextBytes) bytes")
    }

    private mutating func take(_ byte: UInt8) -> XMLSyntaxError? {
        switch state {
        case .text: takeBetweenMarkup(byte)
        case .open: return takeBehindLess(byte)
        case .bang: takeBehindBang(byte)
        case .bangDash: begin(.comment)
        case .comment: takeContent(byte, end: UInt8(ascii: "-"), repeated: 2)
        case .cdata: takeContent(byte, end: UInt8(ascii: "]"), repeated: 2)
        case .instruction: takeContent(byte, end: UInt8(ascii: "?"), repeated: 1)
        case .literal:
            begin(stateAfterLiteral)
            nameLength = 0
        case .tag: return takeInTag(byte)
        case .documentType: return takeInDocumentType(byte)
        case .declaration: return takeInDeclaration(byte)
        }
        return nil
    }

    private mutating func begin(_ state: State) {
        self.state = state
        textLength = 0
        matched = 0
    }

    private mutating func takeBetweenMarkup(_ byte: UInt8) {
        if byte == UInt8(ascii: "<") {
            begin(.open)
        } else if isSubset, byte == UInt8(ascii: "]") {
            isSubset = false
            begin(.documentType)
        }
    }

    private mutating func takeBehindLess(_ byte: UInt8) -> XMLSyntaxError? {
        switch byte {
        case UInt8(ascii: "!"): begin(.bang)
        case UInt8(ascii: "?"): begin(.instruction)
        default:
            begin(.tag)
            attributes = 0
            nameLength = 0
            return takeInTag(byte)
        }
        return nil
    }

    private mutating func takeBehindBang(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "-"): begin(.bangDash)
        case UInt8(ascii: "["): begin(.cdata)
        default:
            begin(isSubset ? .declaration : .documentType)
            alternatives = 0
            nameLength = 0
        }
    }

    private mutating func takeContent(_ byte: UInt8, end: UInt8, repeated: Int) {
        textLength += 1
        if byte == end {
            matched = min(matched + 1, repeated)
        } else if byte == UInt8(ascii: ">"), matched == repeated {
            begin(.text)
        } else {
            matched = 0
        }
    }

    private mutating func takeInTag(_ byte: UInt8) -> XMLSyntaxError? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): beginLiteral(byte)
        case UInt8(ascii: ">"): begin(.text)
        case UInt8(ascii: "="):
            nameLength = 0
            attributes += 1
            if attributes > options.maximumAttributes {
                return Self.limit(.tooManyNodes, "an element with more than \(options.maximumAttributes) attributes")
            }
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "/"):
            nameLength = 0
        default: return takeInName()
        }
        return nil
    }

    private mutating func takeInDocumentType(_ byte: UInt8) -> XMLSyntaxError? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): beginLiteral(byte)
        case UInt8(ascii: ">"): begin(.text)
        case UInt8(ascii: "["):
            isSubset = true
            begin(.text)
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): nameLength = 0
        default: return takeInName()
        }
        return nil
    }

    private mutating func takeInDeclaration(_ byte: UInt8) -> XMLSyntaxError? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): beginLiteral(byte)
        case UInt8(ascii: ">"): begin(.text)
        case UInt8(ascii: "("), UInt8(ascii: "|"), UInt8(ascii: ","):
            nameLength = 0
            alternatives += 1
            if alternatives > options.maximumAttributes {
                return Self.limit(.tooManyNodes, "a declaration of more than \(options.maximumAttributes) parts")
            }
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: ")"):
            nameLength = 0
        default:
            if nameLength == 0 { declaredNames += 1 }
            if declaredNames > Self.maximumDeclaredNames {
                return Self.limit(.tooManyNodes, "a document type of more than \(Self.maximumDeclaredNames) names")
            }
            return takeInName()
        }
        return nil
    }

    private mutating func beginLiteral(_ byte: UInt8) {
        stateAfterLiteral = state
        begin(.literal)
        quote = byte
    }

    private mutating func takeInName() -> XMLSyntaxError? {
        nameLength += 1
        guard nameLength > options.maximumNameBytes else { return nil }
        return Self.limit(.tooLarge, "a name of more than \(options.maximumNameBytes) bytes")
    }

    private static func limit(_ kind: XMLSyntaxError.Kind, _ detail: String) -> XMLSyntaxError {
        XMLSyntaxError(kind: kind, line: 0, detail: detail)
    }
}
