"""Stop words that are function words: articles, pronouns, prepositions, conjunctions, auxiliaries and the like.

The lists of the package stopwordsiso are unions of what others have gathered, and hold words that topics are made of:
computer, world, research, states, goods, men (but not women). Of English, where that is most of the list, the function
words are written out here. Of the languages below the content words of the list stay. Of all other languages the list
is taken as it is, and of it only what a text uses evenly: see :mod:`polyad.corpus.words.stopping`.
"""

from functools import lru_cache

_ENGLISH = """
    a about above across after afterwards again against ago all almost alone along already also although always am
    amid among amongst an and another any anybody anyhow anyone anything anyway anywhere are around as at away be
    became because become becomes becoming been before beforehand behind being below beside besides between beyond
    both but by can cannot could did do does doing done down during each eight either else elsewhere enough etc even
    ever every everybody everyone everything everywhere except few first five for four from further furthermore had
    has have having he hence her here hereby herein hers herself him himself his how however i ie if in indeed instead
    into is it its itself just last least less lest let like many may maybe me meanwhile might mine more moreover most
    mostly much must my myself namely near neither never nevertheless next nine no nobody none nonetheless nor not
    nothing now nowhere of off often on once one ones only onto or other others otherwise ought our ours ourselves out
    over own per perhaps quite rather really same seem seemed seeming seems seven several shall she should since six
    so some somebody somehow someone something sometimes somewhat somewhere soon still such ten than that the their
    theirs them themselves then thence there thereafter thereby therefore therein thereof these they this those though
    three through throughout thru thus till to together too toward towards two under underneath unless unlike until
    unto up upon us very via was we well were what whatever when whence whenever where whereas whereby wherein
    wherever whether which whichever while whilst who whoever whom whomever whose why will with within without would
    yes yet you your yours yourself yourselves
"""
# As they stand where an apostrophe was taken for the end of a word.
_CUT_SHORT = """
    ain aren couldn didn doesn don hadn hasn haven isn ll mightn mustn needn re shan shouldn ve wasn weren won wouldn
"""

# What the lists have beside function words: nouns, verbs and adjectives with a meaning of their own, and interjections.
_CONTENT = {
    "de": """
        allgemeinen beispiel bekannt besser besten dank ehrlich ende ernst gott groß große großen großer großes gross
        grosse grossen grosser grosses gute guter gutes hoch jahr jahre jahren kleine kleinen kleiner kleines kurz lang
        lange leicht leide mahn mann mensch menschen mittel morgen möglich neue neuen offen ordnung recht rechte rechten
        rechter rechtes richtig rund sache satt schlecht schluss startseite suche tage tagen teil tritt uhr vergangenen
        wahr weit wissen zeit
    """,
    "es": """
        acuerdo afirmó agregó ampleamos aseguró añadió buen buena buenas bueno buenos comentó considera consideró cosas
        cuenta dias días diferente diferentes ejemplo emplear empleais emplean empleas empleo estado estados existe
        existen explicó expresó final general gran grandes habla hablan horas indicó informo informó intento lado largo
        llegó lleva llevar lugar manera manifestó mayor medio mejor mencionó momento nueva nuevas nuevo nuevos pais paìs
        partir peor posible primer primera primero primeros raras realizado realizar realizó saber segunda segundo
        señaló sola solas solos tarde temprano tercera tiempo total trabaja trabajais trabajamos trabajan trabajar
        trabajas trabajo usais usamos usan usar usas valor verdad verdadera verdadero última últimas último últimos
    """,
    "fr": """
        absolument anterieur anterieure anterieures basee beau bien bigre boum bravo brrr cent cher chers chiche
        chère chères clac clic comparable comparables couic crac dernier derniere different differentes differents
        différent différente différentes différents directe directement dring droite début effet egale egales essai
        exterieur flac floc force gens haut juste laisser longtemps maximale mille mince mine minimale multiple
        multiples naturel naturelle naturelles necessaire necessairement nombreuses nombreux nommés nouveau nouveaux
        ouvert ouverte ouverts parle parlent parler parole particulier particulière passé pense personne personnes
        pire pièce plein plouf possessif possessifs possible possibles prealable premier première probable probante
        procedant proche pure quarante rare rares relative remarquable rend rendre restant reste restent restrictif
        retour sein soixante sommes specifique specifiques speculatif stop subtiles suffisant suffisante suffit
        suivre sujet superpose tardive tend tente unique uniques valeur vifs vive vives voie voient état
    """,
    "it": """
        anni anno ansa anticipo attesa bene brava bravo buono caso cento cima citta città cominci comprare conclusione
        consecutivi consecutivo consiglio cortesia cosa diventa diventare diventato doppio esempio faccia favore fine
        forza futuro generale gente giorni giorno grande grazie gruppo haha improvviso lasciato lato lontano lungo luogo
        maggior male meglio mesi mezzo miliardi milioni minimi modo momento mondo nome novanta nuovi nuovo ottanta paese
        parte peccato persone piedi pieno piglia posto presa press primo promesso quarto quinto recente registrazione
        scola scopo secondo seguito solito tempo terzo titolo trenta triplo trovato uguali ultimo uomo vita volta volte
    """,
}
# Words with an accent that the list has without, and older forms.
_ADDED = {"it": "sì né sé ché lì là giù sù de com lor pur or ond elli ei el ogne sanza quei quivi"}


@lru_cache(maxsize=128)
def function_words(code: str) -> frozenset[str]:
    """Give the function words of a language by its code; all of its list where nobody has told them apart.

    Examples
    --------
    >>> "the" in function_words("en"), "world" in function_words("en"), "sì" in function_words("it")
    (True, False, True)
    """
    import stopwordsiso

    listed = frozenset(stopwordsiso.stopwords(code))
    if code == "en":
        return frozenset((_ENGLISH + _CUT_SHORT).split()) | {word for word in listed if "'" in word}
    return (listed - set(_CONTENT.get(code, "").split())) | set(_ADDED.get(code, "").split())


def is_curated(code: str) -> bool:
    """Tell whether the content words of a language's list are known.

    Examples
    --------
    >>> is_curated("fr"), is_curated("cs")
    (True, False)
    """
    return code == "en" or code in _CONTENT


def listed_languages() -> list[str]:
    """Give the codes of the languages that there are lists of."""
    import stopwordsiso

    return sorted(stopwordsiso.langs())
