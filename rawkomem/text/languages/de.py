"""German. Many technical words are English; the same table of endings works for them."""

from __future__ import annotations

from ..language import Language, ending_stemmer, word_set

# Savoy's light stemmer for German (CLEF 2001). It removes one ending and umlauts, so that Buch and Bücher have one
# stem. It does not split compounds.
ENDINGS = ("innen", "ungen", "ung", "ern", "en", "em", "er", "es", "e", "n", "s")
FOLDED = {"ä": "a", "ö": "o", "ü": "u", "ß": "ss"}

LANGUAGE = Language(
    code="de",
    stemmer=ending_stemmer(ENDINGS, 4, FOLDED),
    stop_words=word_set(
        """
        ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus
        außer bei beim bin bis bist bitte da dabei dadurch dafür dagegen daher damit danach dann daran darauf daraus
        darf darum das dass davon davor dazu dein deine deinem deinen deiner dem den denn der deren des dessen deshalb
        dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einige
        er es etwa etwas euch euer eure falls für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm
        ihn ihnen ihr ihre ihrem ihren ihrer im immer in indem ins ist ja jede jedem jeden jeder jedes jedoch jene jetzt
        kann kein keine keinem keinen keiner können könnte man mal mehr mein meine mich mir mit muss müssen nach
        nachdem nein nicht nichts nie niemals noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit
        selbst sich sie sind so sobald solche soll sollen sollte sondern sonst statt über um und uns unser unsere unter
        viel vom von vor während wann war waren warum was weil weiter welche welchem welchen welcher welches wenn wer
        werde werden wie wieder will wir wird wo wobei wollen worden wurde wurden würde würden z zu zum zur zwar
        zwischen
        """
    ),
    generic_words=word_set(
        """
        ändern anlegen ansehen antwort anwendung arbeit arbeiten aufgabe bauen beachten beispiel benutzen bereich
        besser bestimmt brauchen code datei dateien einfach erklären erste fall finden frage funktion geben gehen gut
        gute helfen hilfe hinzufügen information inhalt jahr kommen lassen lesen letzte lösen machen monat nächste name
        neu neue nutzen öffnen person problem projekt prüfen richtig sagen schreiben schritt sehen setzen stehen stelle
        stellen suchen system tag teil text thema tun verbessern verwenden verwendet wichtig wissen woche wort zeigen
        zeit geht gibt macht kommt sagt steht zeigt sieht findet nutzt braucht läuft laufen hilft
        """
    ),
    negations=word_set(
        "kein keine keinem keinen keiner nein nicht nichts nie niemals ohne vermeiden vermeide no not"
    ),
    openers=word_set(
        "bei beim bevor bis ehe falls immer nach nachdem sobald solange vor während wenn wo"
    ),
    exceptions=(
        " außer ",
        " es sei denn ",
        " aber nicht ",
        " nicht für ",
        " nicht wenn ",
        " nicht bei ",
    ),
    alternative="oder",
    abbreviations=(
        "z. b.",
        "z.b.",
        "d. h.",
        "d.h.",
        "usw.",
        "bzw.",
        "ca.",
        "vgl.",
        "evtl.",
        "ggf.",
        "dr.",
        "nr.",
    ),
)
