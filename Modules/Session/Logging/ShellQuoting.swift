internal import FoundationEssentials

extension String {
    /// The text quoted as one word of a POSIX shell (POSIX.1, Shell Command Language, section 2.2.2). NUL cannot be part of a
    /// word and is removed.
    ///
    /// Quoting compares bytes, as the shell does, because a quote followed by a combining mark is a different Character.
    var shellQuoted: String {
        let bytes = utf8.filter { $0 != 0 }
        if !bytes.isEmpty, bytes.allSatisfy(\.isPlainInShell) { return String(decoding: bytes, as: UTF8.self) }
        var quoted = [UInt8(ascii: "'")]
        quoted.reserveCapacity(bytes.count + 2)
        for byte in bytes {
            if byte == UInt8(ascii: "'") { quoted += #"'\''"#.utf8 } else { quoted.append(byte) }
        }
        quoted.append(UInt8(ascii: "'"))
        return String(decoding: quoted, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isPlainInShell: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-_./:=@%+,".utf8.contains(self)
        }
    }
}

extension Data {
    /// The format with which POSIX `printf` writes these bytes.
    var printfFormat: String {
        var format = ""
        format.reserveCapacity(count * 4)
        for byte in self {
            format += "\\"
            for shift in [6, 3, 0] { format += String((byte >> UInt8(shift)) & 7) }
        }
        return format
    }
}
