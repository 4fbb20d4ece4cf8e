import FoundationEssentials
import LinnetSerialization

extension QueryCase {
    static let styles: [QueryCase] = arrays + nesting + values

    private static let arrays: [QueryCase] = [
        cases(
            "indices: elements are numbered from 0",
            [
                (["a": [1, 2]], "a%5B0%5D=1&a%5B1%5D=2"),
                (["a": [["k": 1], ["k": 2]]], "a%5B0%5D%5Bk%5D=1&a%5B1%5D%5Bk%5D=2"),
                (["a": [[1], [2, 3]]], "a%5B0%5D%5B0%5D=1&a%5B1%5D%5B0%5D=2&a%5B1%5D%5B1%5D=3"), (["a": []], ""),
                (
                    ["a": .array((0..<11).map { .integer($0) })],
                    (0..<11).map { "a%5B\($0)%5D=\($0)" }.joined(separator: "&")
                ),
            ]
        ) { $0.arrayStyle = .indices },
        cases(
            "repeated: elements have the plain name",
            [
                (["a": [1, 2]], "a=1&a=2"), (["a": [["k": 1]]], "a%5Bk%5D=1"), (["a": [[1], [2]]], "a=1&a=2"),
                (["a": []], ""),
            ]
        ) { $0.arrayStyle = .repeated },
        cases(
            "commaSeparated: one pair, with bare commas; an element's own comma is encoded",
            [
                (["a": [1, 2]], "a=1,2"), (["a": ["x,y", "z"]], "a=x%2Cy,z"), (["a": [1]], "a=1"), (["a": []], ""),
                (["a": ["b": ["x", "y"]]], "a%5Bb%5D=x,y"), (["a": [nil, 1, ""]], "a=,1,"),
            ]
        ) { $0.arrayStyle = .commaSeparated },
        cases("commaSeparated with nulls dropped", [(["a": [nil, 1, nil]], "a=1"), (["a": [nil]], "")]) {
            $0.arrayStyle = .commaSeparated
            $0.nullStyle = .dropped
        },
        cases(
            "Empty as a bare name",
            [
                (["a": []], "a%5B%5D"), (["a": [:]], "a"), (["a": .set([])], "a"),
                (["a": ["b": []], "c": 1], "a%5Bb%5D%5B%5D&c=1"),
                ([:], ""), (["a": [[]]], "a%5B%5D%5B%5D"),
            ]
        ) { $0.emptyCollectionStyle = .bareKey },
        cases(
            "Empty as an empty value", [(["a": []], "a%5B%5D="), (["a": [:]], "a="), (["a": ["b": [:]]], "a%5Bb%5D=")]
        ) {
            $0.emptyCollectionStyle = .emptyValue
        },
        cases("Empty with indices: there is no index to name", [(["a": []], "a%5B%5D=")]) {
            $0.emptyCollectionStyle = .emptyValue
            $0.arrayStyle = .indices
        },
        cases("Empty where elements have the plain name", [(["a": []], "a"), (["a": ["b": []]], "a%5Bb%5D")]) {
            $0.emptyCollectionStyle = .bareKey
            $0.arrayStyle = .repeated
        },
    ].flatMap { $0 }

    private static let nesting: [QueryCase] = [
        cases(
            "dots: names in dictionaries follow a dot; elements keep their brackets",
            [
                (["a": ["b": 1]], "a.b=1"), (["a": ["b": ["c": 1]]], "a.b.c=1"),
                (["a": ["b": [1, 2]]], "a.b%5B%5D=1&a.b%5B%5D=2"),
                (["a": [["k": 1]]], "a%5B%5D.k=1"), (["a": ["b c": 1]], "a.b%20c=1"),
            ]
        ) { $0.nestingStyle = .dots },
        cases("dots with indices", [(["a": [["k": 1], ["k": 2]]], "a%5B0%5D.k=1&a%5B1%5D.k=2")]) {
            $0.nestingStyle = .dots
            $0.arrayStyle = .indices
        },
        cases(
            "Unsorted: names and members stay in their own order",
            [
                (["b": ["d": 1, "c": 2], "a": 3], "b%5Bd%5D=1&b%5Bc%5D=2&a=3"), (["s": .set([2, 1])], "s=2&s=1"),
                (["b": 1, "a": 2, "b": 3], "b=1&a=2&b=3"),
            ]
        ) { $0.sortsKeys = false },
    ].flatMap { $0 }

    private static let values: [QueryCase] = [
        cases("Truth values as words", [(["a": true, "b": false], "a=true&b=false"), (["a": [true]], "a%5B%5D=true")]) {
            $0.boolStyle = .words
        },
        cases(
            "Null as an empty value",
            [
                (["a": ParameterValue.null, "b": 1, "c": [nil, 2]], "a=&b=1&c%5B%5D=&c%5B%5D=2"),
                (["a": ["b": ParameterValue.null]], "a%5Bb%5D="),
            ]
        ) { $0.nullStyle = .emptyValue },
        cases(
            "Null dropped",
            [
                (["a": ParameterValue.null, "b": 1, "c": [nil, 2]], "b=1&c%5B%5D=2"), (["a": ParameterValue.null], ""),
                (["a": [nil]], ""),
                (["a": .set([nil, 1])], "a=1"),
            ]
        ) { $0.nullStyle = .dropped },
        texts("A space as +, and a plus encoded", [(" ", "+"), ("c d+e", "c+d%2Be"), ("  ", "++"), ("%20", "%2520")]) {
            $0.spaceStyle = .plus
        },
        cases(
            "All at once",
            [
                (["z": [true, nil], "y": ["x": "a b"]], "z%5B0%5D=true&z%5B1%5D=&y.x=a+b")
            ]
        ) {
            $0.arrayStyle = .indices
            $0.nestingStyle = .dots
            $0.boolStyle = .words
            $0.nullStyle = .emptyValue
            $0.spaceStyle = .plus
            $0.sortsKeys = false
        },
    ].flatMap { $0 }
}
