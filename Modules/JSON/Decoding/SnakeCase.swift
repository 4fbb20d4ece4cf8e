/// The conversion of `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase`.
enum SnakeCase {
    /// `two_words` as `twoWords`; underscores at both ends stay, and a name without others is unchanged.
    static func decoded(_ name: String) -> String {
        guard name.utf8.contains(UInt8(ascii: "_")) else { return name }
        let words = name.split(separator: "_")
        guard words.count > 1, let first = words.first, let last = words.last else { return name }
        var result = String(name[..<first.startIndex]) + first.lowercased()
        for word in words.dropFirst() { append(word, to: &result) }
        return result + String(name[last.endIndex...])
    }

    /// Appends a word in the form of `capitalized`: a letter is uppercase at the start, and after any character, such
    /// as a digit, that is neither a cased letter nor part of a word.
    private static func append(_ word: Substring, to result: inout String) {
        var isInside = false
        for scalar in word.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter:
                result += isInside ? scalar.properties.lowercaseMapping : scalar.properties.titlecaseMapping
                isInside = true
            case .modifierLetter, .nonspacingMark, .enclosingMark, .format, .modifierSymbol:
                result.unicodeScalars.append(scalar)
            default:
                result.unicodeScalars.append(scalar)
                if scalar != "'" && scalar != "’" { isInside = false }
            }
        }
    }
}
