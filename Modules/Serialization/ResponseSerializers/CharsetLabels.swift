/// How a charset is decoded.
enum CharsetDecoder {
    case utf8
    case ascii
    case latin1
    case windows1252
    case userDefined
    /// Big endian without a byte order mark.
    case utf16(isBigEndian: Bool?)
    case utf32(isBigEndian: Bool?)
    /// The C library's converter for the first known name in a list separated by spaces. The first name matches the
    /// tables of browsers (WHATWG Encoding), the others approximate them.
    case converter(String)
}

/// The supported charsets, by the labels of the WHATWG Encoding standard and some of IANA's.
package enum CharsetLabels {
    /// The name for a lowercase label.
    static func name(_ label: String) -> String? { names[label] }

    static func decoder(_ name: String) -> CharsetDecoder? { charsets[name] }

    /// The offset of the first byte that begins no character of the charset (WHATWG Encoding, sections 11.1 and 12.1),
    /// but which glibc's converter takes for a control character. In both charsets it is not within a character either.
    static func unassigned(in bytes: [UInt8], _ name: String) -> Int? {
        switch name {
        case "euc-jp": bytes.firstIndex { 0x80...0x9F ~= $0 && $0 != 0x8E && $0 != 0x8F }
        case "big5": bytes.firstIndex(of: 0x80)
        default: nil
        }
    }

    /// The C library's names for the charset with a label, the best one first; nil if the charset is not supported.
    /// UTF-16 and UTF-32 are big endian if the label does not say otherwise.
    package static func converters(_ label: String) -> [String]? {
        guard let known = name(label.lowercased()), let decoder = charsets[known] else { return nil }
        switch decoder {
        case .utf8: return ["UTF-8"]
        case .ascii: return ["US-ASCII"]
        case .latin1: return ["ISO-8859-1"]
        case .windows1252: return ["CP1252"]
        case .utf16(let isBigEndian): return [isBigEndian == false ? "UTF-16LE" : "UTF-16BE"]
        case .utf32(let isBigEndian): return [isBigEndian == false ? "UTF-32LE" : "UTF-32BE"]
        case .converter(let names): return names.split(separator: " ").map { String($0) }
        case .userDefined: return nil
        }
    }

    private static let charsets: [String: CharsetDecoder] = Dictionary(
        table.map { ($0.name, $0.decoder) }, uniquingKeysWith: { first, _ in first })

    private static let names: [String: String] = Dictionary(
        table.flatMap { row in
            let labels = row.labels.split(separator: " ").map { String($0) }
            return ([row.name] + labels).map { ($0, row.name) }
        },
        uniquingKeysWith: { first, _ in first })

    private struct Row {
        let name: String
        let decoder: CharsetDecoder
        /// Other labels, separated by spaces.
        let labels: String

        init(_ name: String, _ decoder: CharsetDecoder, _ labels: String) {
            (self.name, self.decoder, self.labels) = (name, decoder, labels)
        }
    }

    private static let table: [Row] = unicode + western + latin + otherAlphabets + eastAsian

    private static let unicode = [
        Row("utf-8", .utf8, "utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8 csutf8"),
        Row("utf-16", .utf16(isBigEndian: nil), "csutf16"),
        Row("utf-16be", .utf16(isBigEndian: true), "unicodefffe csutf16be"),
        Row(
            "utf-16le", .utf16(isBigEndian: false),
            "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff csutf16le"),
        Row("utf-32", .utf32(isBigEndian: nil), "csutf32"),
        Row("utf-32be", .utf32(isBigEndian: true), "csutf32be"),
        Row("utf-32le", .utf32(isBigEndian: false), "csutf32le"),
    ]

    /// US-ASCII and ISO-8859-1 follow IANA's definitions; browsers treat them as windows-1252.
    private static let western = [
        Row("us-ascii", .ascii, "ascii ansi_x3.4-1968 iso646-us iso_646.irv:1991 iso-ir-6 us csascii"),
        Row(
            "iso-8859-1", .latin1,
            "cp819 csisolatin1 ibm819 iso-ir-100 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1"),
        Row("windows-1252", .windows1252, "cp1252 x-cp1252"),
        Row("x-user-defined", .userDefined, ""),
    ]

    private static let latin = [
        Row(
            "iso-8859-2", .converter("ISO-8859-2"),
            "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
        Row(
            "iso-8859-3", .converter("ISO-8859-3"),
            "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
        Row(
            "iso-8859-4", .converter("ISO-8859-4"),
            "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
        Row(
            "windows-1254", .converter("CP1254"),
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254"),
        Row("iso-8859-10", .converter("ISO-8859-10"), "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        Row("iso-8859-13", .converter("ISO-8859-13"), "iso8859-13 iso885913"),
        Row("iso-8859-14", .converter("ISO-8859-14"), "iso8859-14 iso885914"),
        Row(
            "iso-8859-15", .converter("ISO-8859-15"),
            "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9 latin-9 latin9"),
        Row("iso-8859-16", .converter("ISO-8859-16"), "iso8859-16 iso885916"),
        Row("windows-1250", .converter("CP1250"), "cp1250 x-cp1250"),
        Row("windows-1257", .converter("CP1257"), "cp1257 x-cp1257"),
        Row("windows-1258", .converter("CP1258"), "cp1258 x-cp1258"),
        Row("macintosh", .converter("MACINTOSH"), "csmacintosh mac x-mac-roman"),
    ]

    private static let otherAlphabets = [
        Row("ibm866", .converter("IBM866 CP866"), "866 cp866 csibm866"),
        Row(
            "iso-8859-5", .converter("ISO-8859-5"),
            "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"),
        Row("koi8-r", .converter("KOI8-R"), "cskoi8r koi koi8 koi8_r"),
        Row("koi8-u", .converter("KOI8-U"), "koi8-ru"),
        Row("windows-1251", .converter("CP1251"), "cp1251 x-cp1251"),
        Row("x-mac-cyrillic", .converter("MAC-CYRILLIC MAC-UK"), "x-mac-ukrainian"),
        Row(
            "iso-8859-6", .converter("ISO-8859-6"),
            """
            arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 \
            iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
            """),
        Row("windows-1256", .converter("CP1256"), "cp1256 x-cp1256"),
        Row(
            "iso-8859-7", .converter("ISO-8859-7"),
            """
            csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 \
            sun_eu_greek
            """),
        Row("windows-1253", .converter("CP1253"), "cp1253 x-cp1253"),
        Row(
            "iso-8859-8", .converter("ISO-8859-8"),
            """
            csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 \
            visual
            """),
        Row("iso-8859-8-i", .converter("ISO-8859-8"), "csiso88598i logical"),
        Row("windows-1255", .converter("CP1255"), "cp1255 x-cp1255"),
        Row(
            "windows-874", .converter("CP874 WINDOWS-874 TIS-620"),
            "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
    ]

    private static let eastAsian = [
        Row(
            "gbk", .converter("GB18030 GBK"),
            "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk cp936"),
        Row("gb18030", .converter("GB18030"), ""),
        Row("big5", .converter("BIG5-HKSCS BIG5"), "big5-hkscs cn-big5 csbig5 x-x-big5"),
        Row("euc-jp", .converter("EUC-JP-MS EUC-JP"), "cseucpkdfmtjapanese x-euc-jp"),
        Row("iso-2022-jp", .converter("ISO-2022-JP"), "csiso2022jp"),
        Row(
            "shift_jis", .converter("CP932 SHIFT_JIS"),
            "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis cp932"),
        Row(
            "euc-kr", .converter("CP949 UHC EUC-KR"),
            """
            cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949 cp949
            """),
    ]
}
