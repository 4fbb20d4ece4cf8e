/// Documents for the productions of XML 1.0 (fifth edition) and Namespaces in XML 1.0, well-formed and not.
enum XMLGrammarDocuments {
    /// A place in a document, and the text to insert.
    private struct Production {
        let places: [String]
        let contents: [String]
    }

    static let all: [String] = {
        var seen: Set<String> = []
        let made = productions.flatMap { production in
            production.places.flatMap { place in production.contents.map { place.replacing("@", with: $0) } }
        }
        return made.filter { seen.insert($0).inserted }
    }()

    private static let productions = [
        characters, references, names, startTags, attributes, content, comments, instructions, sections, declarations,
        prologs, documentTypes, elementDeclarations, attributeDeclarations, notations, entities, namespaces,
    ]

    private static let characters = Production(
        places: [
            "<a>@</a>", "<a b='@'/>", "<a><!--@--></a>", "<a><?p @?></a>", "<a><![CDATA[@]]></a>", "@<a/>", "<a/>@",
        ],
        contents: [
            "\u{1}", "\u{8}", "\t", "\n", "\u{B}", "\u{C}", "\r", "\u{E}", "\u{1F}", " ", "\u{7F}", "\u{85}", "\u{A0}",
            "\u{2028}", "\u{D7FF}", "\u{E000}", "\u{FEFF}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{10000}",
            "\u{10FFFF}", "x",
        ])

    private static let references = Production(
        places: ["<a>@</a>", "<a b='@'/>"],
        contents: [
            "&#9;", "&#10;", "&#13;", "&#x20;", "&#xD7FF;", "&#xD800;", "&#xDFFF;", "&#xE000;", "&#xFFFD;", "&#xFFFE;",
            "&#xFFFF;",
            "&#x10000;", "&#x10FFFF;", "&#x110000;", "&#0;", "&#1;", "&#x1F;", "&#;", "&#x;", "&#xG;", "&#1", "&#65",
            "& #65;",
            "&#x0041;", "&#00065;", "&#99999999999;", "&#X41;", "&amp;", "&lt;", "&gt;", "&apos;", "&quot;", "&AMP;",
            "&amp", "&;",
            "&", "& ;", "&undefined;", "&#-1;", "&a b;", "&1;",
        ])

    private static let names = Production(
        places: ["<@/>", "<a @=''/>", "<@></@>", "<?@ d?><a/>", "<!DOCTYPE @><a/>"],
        contents: [
            "a", "_", "a-b", "a.b", "-a", ".a", "1a", "a1", "é", "漢", "a\u{B7}", "\u{B7}a", "a\u{300}", "\u{300}",
            "\u{D7}", "a\u{D7}",
            "\u{37E}", "a b", "a/b", "", "a,", "a|b", "\u{F7}", "xmlish",
        ])

    private static let startTags = Production(
        places: ["@"],
        contents: [
            "<a></a>", "<a ></a >", "<a\n></a\t>", "< a></a>", "<a></ a>", "<a></b>", "<a><b></a></b>", "<a/ >",
            "<a//>", "<a/>x",
            "<a/><b/>", "<a", "<a/", "<a>", "</a>", "<a></a", "<a></a b=''>", "<a></a/>", "<>", "</>", "<a><>",
            "<A></a>", "<a/><!--c-->",
            "<a/><?p?>", "<a/>\n", "x<a/>", "", "<", "<a/></a>", "<a/>&amp;", "<a/><![CDATA[]]>",
            "<a><b><c/></b><c/></a>",
        ])

    private static let attributes = Production(
        places: ["<a @/>", "<a @></a>"],
        contents: [
            "b=''", "b=\"\"", "b = ''", "b\n=\n''", "b='\"'", "b=\"'\"", "b", "b=", "b=c", "=''", "b=''c=''",
            "b='' c=''", "b='' b=\"\"",
            "b='<'", "b='>'", "b='&'", "b='\n'", "b='", "b=\"'", "b=''/", "b='x' c", "b=''=''", "B='' b=''", "b='' /",
            "1=''", "b='&lt;'",
        ])

    private static let content = Production(
        places: ["<a>@</a>"],
        contents: [
            "]]>", "]]", "]>", "]]]>", "]] >", "]]&gt;", ">", "<b/>", "<b>]]></b>", "x<b/>y<c/>z", "<!b>", "<!>",
            "<![b]]>", "<? ?>",
            "<!DOCTYPE b>", "<?xml version='1.0'?>", "\u{FEFF}", "'", "\"",
        ])

    private static let comments = Production(
        places: ["<a><!@></a>", "<!@><a/>", "<a/><!@>", "<!DOCTYPE a [<!@>]><a/>"],
        contents: [
            "----", "--x--", "-- - --", "-- -- --", "---", "--->", "--", "-", "--<b>--", "--&x;--", "--]]>--", "--é--",
            "--\n--", "- -x- -",
            "--x---", "--'--", "--\"--",
        ])

    private static let instructions = Production(
        places: ["<a><?@?></a>", "<?@?><a/>", "<a/><?@?>", "<!DOCTYPE a [<?@?>]><a/>"],
        contents: [
            "p", "p ", "p d", "p\nd", "p  d ", "p?", "p ?", "p<b>", "p &x;", "xml", "XML x", "Xml", "xml-s x", " p", "",
            "1", "p d='?'", "p >", "p don't",
            "p-q.r d",
        ])

    private static let sections = Production(
        places: ["<a>@</a>", "@<a/>", "<a/>@", "<a b='@'/>"],
        contents: [
            "<![CDATA[]]>", "<![CDATA[x]]>", "<![CDATA[<b>&c;]]>", "<![CDATA[]]]>", "<![CDATA[]]]]>", "<![CDATA[]]",
            "<![CDATA[>]]>",
            "<![cdata[x]]>", "<![CDATA x]]>", "<! [CDATA[x]]>", "<![CDATA[<![CDATA[x]]>", "<![CDATA[x]]>]]>",
            "<![CDATA[\n]]>",
        ])

    private static let declarations = Production(
        places: ["<?xml @?><a/>"],
        contents: [
            "version='1.0'", "version=\"1.0\"", "version = '1.0'", "version='1.0' encoding='UTF-8'",
            "version='1.0' standalone='yes'",
            "version='1.0' standalone='no'", "version='1.0' encoding='UTF-8' standalone='yes'",
            "version='1.0' standalone='maybe'",
            "version='1.0' standalone='yes' encoding='UTF-8'", "encoding='UTF-8'", "standalone='yes'",
            "version='1.0'encoding='UTF-8'",
            "version='1.0' encoding=''", "version='1.0' encoding='1'", "version='1.0' encoding='UTF 8'", "version=1.0",
            "VERSION='1.0'",
            "version='1.0' x='y'", "version='1.0' version='1.0'", "version='1.0' encoding='utf-8'", "version='1.0\"",
            "version=''", "",
            "version='1.0' ?", "version='1.0' encoding='ISO-8859-1'", "version='1.0' encoding='US-ASCII'",
            "version='1.0' Standalone='yes'",
            "version='1.0' standalone='YES'", "version='1.0' encoding=\"UTF-8'",
        ])

    private static let prologs = Production(
        places: ["@<a/>"],
        contents: [
            " ", "\n", " <?xml version='1.0'?>", "<?xml version='1.0'?>\n",
            "<?xml version='1.0'?><?xml version='1.0'?>",
            "<?xml version='1.0'?><!DOCTYPE a>", "<!DOCTYPE a><?xml version='1.0'?>", "<!--c--><?xml version='1.0'?>",
            "<!DOCTYPE a><!DOCTYPE a>",
            "<?xml version='1.0'?><!--c--><?p?><!DOCTYPE a><!--c--><?p?> ", "<?xml version='1.0'>",
            "<?xml version='1.0'", "<?xml?>", "&amp;",
            "<![CDATA[ ]]>", "<!ELEMENT a ANY>", "<!ENTITY a 'b'>",
        ])

    private static let documentTypes = Production(
        places: ["<!DOCTYPE @><a/>"],
        contents: [
            "a", "a ", "a []", "a [ ]", "a[]", "a SYSTEM 's'", "a SYSTEM \"s\"", "a SYSTEM", "a SYSTEM s",
            "a PUBLIC 'p' 's'", "a PUBLIC 'p'",
            "a PUBLIC 'p''s'", "a PUBLIC", "a PUBLIC 'é' 's'", "a PUBLIC \"it's\" 's'", "a system 's'", "a SYSTEM's'",
            "a SYSTEM 's' []",
            "a SYSTEM 's' 't'", "a [] SYSTEM 's'", "", "a b", "a [x]", "a [<b>]", "a [&x;]", "a [<a/>]", "a [] []",
            "a []]", "a [ ", "a SYSTEM 's",
            "a SYSTEM 'it\"s'", "a PUBLIC '{' 's'", "a [<!-- ]> -->]", "a [<?p ]> ?>]", "a [<?p ' ?>]",
            "a [<!-- ' -->]", "other", "a:b",
        ])

    private static let elementDeclarations = Production(
        places: ["<!DOCTYPE a [<!ELEMENT @>]><a/>"],
        contents: [
            "a EMPTY", "a ANY", "a  ANY ", "a (#PCDATA)", "a ( #PCDATA )", "a (#PCDATA)*", "a (#PCDATA|b)*",
            "a (#PCDATA | b | c )*", "a (#PCDATA|b)",
            "a (#PCDATA,b)*", "a (b|#PCDATA)*", "a (b)", "a (b)?", "a (b)*", "a (b)+", "a (b,c)", "a (b|c)",
            "a (b,c|d)", "a ((b,c)|d)", "a ((b|c)+,d?)",
            "a (b?)", "a (b ?)", "a (b) ?", "a (b+,c*)", "a ()", "a (,b)", "a (b,)", "a (b", "a b", "a", "",
            "a ANY ANY", "a any", "a(b)", "a (((b)))",
            "a (#PCDATA)+", "a (#pcdata)", "a (b c)", "a (b|c)**", "1 ANY", "a (#PCDATA|b|b)*", "a EMPTYx", "a (b&c)",
            "a 'b'",
        ])

    private static let attributeDeclarations = Production(
        places: ["<!DOCTYPE a [<!ATTLIST @>]><a/>"],
        contents: [
            "a", "a ", "a b CDATA #IMPLIED", "a b CDATA #REQUIRED", "a b CDATA 'x'", "a b CDATA #FIXED 'x'",
            "a b CDATA #FIXED", "a b CDATA", "a b",
            "a b ID #IMPLIED", "a b IDREF #IMPLIED", "a b IDREFS #IMPLIED", "a b ENTITY #IMPLIED",
            "a b ENTITIES #IMPLIED", "a b NMTOKEN #IMPLIED",
            "a b NMTOKENS 'x y'", "a b (x) #IMPLIED", "a b (x|y) 'x'", "a b ( x | y ) 'z'", "a b (x,y) 'x'",
            "a b () 'x'", "a b (x|) 'x'", "a b (1|2) '1'",
            "a b (x|x) 'x'", "a b NOTATION (n) #IMPLIED", "a b NOTATION (n|m) 'n'", "a b NOTATION n 'n'",
            "a b NOTATION(n) #IMPLIED", "a b NOTATION (1) #IMPLIED",
            "a b CDATA #IMPLIED c CDATA 'x'", "a b CDATA 'x'c CDATA 'y'", "a b CDATA #implied", "a b cdata #IMPLIED",
            "a b CDATA '<'", "a b CDATA '&lt;'",
            "a b CDATA '&'", "a b CDATA '&#38;'", "a b CDATA x", "a b CDATA 'x' b CDATA 'y'", "", "a b (x|y)'x'",
            "a b(x|y) 'x'", "a b CDATA '\"'", "a b NUMBER '1'",
            "a 1 CDATA 'x'", "a xml:space (default|preserve) 'preserve'", "a b CDATA '>'", "a b CDATA \"'\"",
            "other b CDATA #REQUIRED",
        ])

    private static let notations = Production(
        places: ["<!DOCTYPE a [<!NOTATION @>]><a/>"],
        contents: [
            "n SYSTEM 's'", "n PUBLIC 'p'", "n PUBLIC 'p' 's'", "n PUBLIC 'p''s'", "n", "n SYSTEM", "n PUBLIC", "n 's'",
            "n SYSTEM 's' 't'", "", "n SYSTEM 's", "1 SYSTEM 's'",
            "n PUBLIC 'é'", "n system 's'", "n SYSTEM 's' >", "n SYSTEM 's'><!NOTATION n SYSTEM 's'",
        ])

    private static let entities = Production(
        places: ["<!DOCTYPE a [@]><a/>", "<!DOCTYPE a SYSTEM 's' [@]><a/>"],
        contents: [
            "%p;", "% p;", "%p", "%;", "<!ENTITY x 'y'>", "<!ENTITY x>", "<!ENTITY x SYSTEM 's'>",
            "<!ENTITY x SYSTEM 's' NDATA n>", "<!ENTITY % x 'y'>",
            "<!ENTITY %x 'y'>", "<!ENTITY % x 'y'>%x;", "<!ENTITY x '%y;'>", "<!ENTITY x 'y", "<!ENTITY x '<'>",
            "<!ENTITY x '&'>", "<!ENTITY 1 'x'>",
            "<![INCLUDE[]]>", "<![IGNORE[]]>", "<!entity x 'y'>", "<!X>", "<!ELEMENT a %p;>", "<!ATTLIST a %p;>",
        ])

    private static let namespaces = Production(
        places: ["@"],
        contents: [
            "<a xmlns='u'/>", "<a xmlns=''/>", "<a xmlns:p='u'/>", "<p:a xmlns:p='u'/>", "<p:a/>", "<a p:b=''/>",
            "<a xmlns:p='u' p:b=''/>", "<a xmlns:p=''/>",
            "<a xmlns:p='u'><b xmlns:p=''/></a>", "<a xmlns='u'><b xmlns=''/></a>",
            "<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>",
            "<a xmlns:p='u' xmlns:q='v' p:b='' q:b=''/>", "<a xmlns='u' xmlns:p='u' b='' p:b=''/>",
            "<a xml:lang='en'/>", "<xml:a/>",
            "<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>", "<a xmlns:xml='u'/>",
            "<a xmlns:p='http://www.w3.org/XML/1998/namespace'/>",
            "<a xmlns='http://www.w3.org/XML/1998/namespace'/>", "<a xmlns:xmlns='http://www.w3.org/2000/xmlns/'/>",
            "<a xmlns:p='http://www.w3.org/2000/xmlns/'/>",
            "<a xmlns='http://www.w3.org/2000/xmlns/'/>", "<:a/>", "<a:/>", "<a:b:c xmlns:a='u'/>",
            "<p:a xmlns:p='u'></a>", "<p:a xmlns:p='u'></p:a>",
            "<p:a xmlns:p='u'></q:a>", "<a xmlns:p='u' xmlns:p='u'/>", "<a><p:b xmlns:p='u'/><p:c/></a>",
            "<a xmlns:='u'/>", "<a xmlns:1='u'/>", "<xmlns:a/>",
            "<a xmlns:xmlp='u'/>", "<a xmlns='a b'/>", "<a xmlns='é'/>",
        ])
}
