import HTTPTypes
import Testing

@testable import LinnetCache

@Suite(.timeLimit(.minutes(1)))
struct CacheDirectivesTests {
    /// RFC 9111, section 5.2; each case is the field's value and its directives.
    @Test(arguments: [
        // Section 5.2: tokens and quoted strings, in any case, in any order.
        ("max-age=5", "max-age=5"), ("Max-AGE=5", "max-age=5"), ("max-age=\"5\"", "max-age=5"),
        ("max-age=5, public", "max-age=5 public"), ("public ,max-age=5", "max-age=5 public"),
        (",,  ,max-age=5,\t,", "max-age=5"), ("", ""), (",", ""), ("max-age=\"\\5\"", "max-age=5"),
        // Section 1.2.2: numbers.
        ("max-age=0", "max-age=0"), ("max-age=007", "max-age=7"), ("max-age=2147483647", "max-age=2147483647"),
        ("max-age=2147483648", "max-age=2147483648"), ("max-age=2147483649", "max-age=2147483648"),
        ("max-age=99999999999999999999999999", "max-age=2147483648"),
        // Section 4.2.1: invalid numbers are stale, and the first of several counts.
        ("max-age", "max-age=0"), ("max-age=", "max-age=0"), ("max-age=-1", "max-age=0"), ("max-age=+5", "max-age=0"),
        ("max-age=1.5", "max-age=0"), ("max-age=5s", "max-age=0"), ("max-age=0x10", "max-age=0"),
        ("max-age =5", "max-age=0"), ("max-age= 5", "max-age=0"), ("max-age=\"5", "max-age=0"),
        ("max-age=\"5\"x", "max-age=0"), ("max-age=5, max-age=9", "max-age=5"), ("max-age=x, max-age=9", "max-age=0"),
        ("s-maxage=7", "s-maxage=7"), ("s-maxage=x", "s-maxage=0"),
        // Section 5.2.1: requests.
        ("max-stale", "max-stale=9223372036854775807"), ("max-stale=10", "max-stale=10"),
        ("max-stale=x", "max-stale=0"),
        ("min-fresh=10", "min-fresh=10"), ("min-fresh=x", "min-fresh=2147483648"), ("only-if-cached", "only-if-cached"),
        // Sections 5.2.2.4 and 5.2.2.7: field names.
        ("no-cache", "no-cache"), ("no-cache=\"Set-Cookie\"", "no-cache[set-cookie]"),
        ("no-cache=\"A, b ,,C\"", "no-cache[a,b,c]"), ("no-cache=Set-Cookie", "no-cache[set-cookie]"),
        ("no-cache=\"\"", "no-cache"), ("no-cache=\"a b\"", "no-cache"), ("no-cache=\"a", "no-cache"),
        ("no-cache=\"a\", no-cache=\"b\"", "no-cache[a,b]"), ("no-cache=\"a\", no-cache", "no-cache"),
        ("no-cache, no-cache=\"a\"", "no-cache"), ("private=\"X-User\"", "private[x-user]"), ("private", "private"),
        // A restricting directive counts even with an argument, a permitting one does not.
        ("no-store=1", "no-store"), ("must-revalidate=0", "must-revalidate"), ("proxy-revalidate", "proxy-revalidate"),
        ("public=1", ""), ("immutable=\"x\"", ""), ("must-understand=1", ""), ("immutable", "immutable"),
        ("must-understand, no-store", "must-understand no-store"),
        // A quotation mark that is not closed hides no directive behind it.
        ("foo=\"bar, no-store", "no-store ext:foo"), ("max-age=\"5, private", "max-age=0 private"),
        ("foo=\"a, no-store\", max-age=3", "max-age=3 ext:foo=a, no-store"),
        // RFC 5861 and RFC 8246.
        ("stale-while-revalidate=3, stale-if-error=4", "stale-if-error=4 stale-while-revalidate=3"),
        ("stale-while-revalidate, stale-if-error=x", "stale-if-error=0 stale-while-revalidate=0"),
        // Section 5.2.3: unknown directives are kept, without effect.
        ("community=\"UCI\", private", "private ext:community=UCI"), ("foo", "ext:foo"), ("no store", ""), ("=5", ""),
        ("foo=", "ext:foo"), ("foo=a b", "ext:foo"),
        ("no_store", "ext:no_store"), ("@=1, no-store", "no-store"),
    ])
    func directivesOfOneField(value: String, expected: String) {
        let parsed = CacheDirectives(response: [.cacheControl: value])
        #expect(parsed.summary == expected)
        #expect(CacheDirectives(request: [.cacheControl: value]) == parsed)
    }

    /// RFC 9110, section 5.3: several fields are one list, but a quoted string ends with its field.
    @Test(arguments: [
        ("Cache-Control: max-age=5|Cache-Control: no-store", "max-age=5 no-store"),
        ("Cache-Control: max-age=5|Cache-Control: max-age=1", "max-age=5"),
        ("Cache-Control: foo=\"|Cache-Control: no-store, b=\"", "no-store ext:foo ext:b"),
        ("CACHE-CONTROL: private|cache-control: private=\"a\"", "private"),
    ])
    func directivesOfSeveralFields(text: String, expected: String) {
        #expect(CacheDirectives(response: fields(text)).summary == expected)
    }

    /// RFC 9111, section 5.4.
    @Test(arguments: [
        ("Pragma: no-cache", "no-cache"), ("Pragma: foo, No-Cache", "no-cache"), ("Pragma: foo", ""),
        ("Pragma: no-cache|Cache-Control: max-age=5", "max-age=5"), ("Pragma: no-cache|Cache-Control: ", ""),
        ("Pragma: no-store", ""),
    ])
    func pragmaCountsInRequestsWithoutCacheControl(text: String, expected: String) {
        #expect(CacheDirectives(request: fields(text)).summary == expected)
        #expect(CacheDirectives(response: fields("Pragma: no-cache")).noCache == nil)
    }
}

extension CacheDirectives {
    /// The differences from no directives at all, in a fixed order.
    fileprivate var summary: String {
        let numbers: [(String, Int64?)] = [
            ("max-age", maxAge), ("s-maxage", sharedMaxAge), ("max-stale", maxStale), ("min-fresh", minFresh),
            ("stale-if-error", staleIfError), ("stale-while-revalidate", staleWhileRevalidate),
        ]
        let flags = [
            ("must-revalidate", mustRevalidate), ("must-understand", mustUnderstand), ("no-store", noStore),
            ("only-if-cached", onlyIfCached), ("proxy-revalidate", proxyRevalidate), ("public", isPublic),
            ("immutable", isImmutable),
        ]
        let scopes = [("no-cache", noCache), ("private", isPrivate)].compactMap { name, scope -> String? in
            switch scope {
            case nil: nil
            case .response: name
            case .fields(let names): "\(name)[\(names.sorted().joined(separator: ","))]"
            }
        }
        let words =
            numbers.compactMap { name, number in number.map { "\(name)=\($0)" } } + scopes
            + flags.filter(\.1).map(\.0)
            + extensions.map { "ext:\($0.name)" + ($0.argument.map { "=\($0)" } ?? "") }
        return words.joined(separator: " ")
    }
}
